#!/bin/sh
# subgroups_test.sh - where a device has sub-groups whose lanes read one another's registers, merges of lanes go by these
# as far as a sub-group reaches, in the order that they have by memory: the same bits, fewer barriers. Devices that have
# none get the text that they had.
# ctest: timeout=300 unkept
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
card="gpu:lanes processor:64 lane:0(1024) group:0 register:0(255) shared:0B(48KB) clock:2600MHz"
graph() { # NAME INPUTS OUTPUTS NODES
    echo "{\"format\": \"graph/1\", \"opset\": {\"\": 20}, \"inputs\": [$2], \"outputs\": [$3], \"nodes\": [$4]}" >"$1.json"
}
softmax='{"op": "Softmax", "in": ["x"], "out": ["y"]}'
graph softmax '{"name": "x", "dtype": "f32", "shape": [40, 300]}' '{"name": "y"}' "$softmax"
graph few '{"name": "x", "dtype": "f32", "shape": [40, 20]}' '{"name": "y"}' "$softmax"
# rows wide and narrow, sums in f64, places in whole numbers, two sums a row
graph all '{"name": "a", "dtype": "f32", "shape": [40, 300]}, {"name": "b", "dtype": "f32", "shape": [40, 20]},
    {"name": "c", "dtype": "f64", "shape": [6, 77, 5]}, {"name": "d", "dtype": "i32", "shape": [9, 1000]},
    {"name": "e", "dtype": "f32", "shape": [3, 130]}, {"name": "w", "dtype": "f32", "shape": [130]}' \
    '{"name": "wide"}, {"name": "narrow"}, {"name": "sums"}, {"name": "places"}, {"name": "norm"}' \
    '{"op": "Softmax", "in": ["a"], "out": ["wide"]}, {"op": "Softmax", "in": ["b"], "out": ["narrow"]},
    {"op": "ReduceSum", "in": ["c"], "out": ["sums"], "attr": {"keepdims": 0}},
    {"op": "ArgMax", "in": ["d"], "out": ["places"], "attr": {"axis": 1}},
    {"op": "LayerNormalization", "in": ["e", "w"], "out": ["norm"]}'

# ---- texts ----
text_of() { # FOLDER MODEL MACHINE
    rm -rf "$1"
    "$TESSERA" emit "$2" --target opencl --machine "$3" -q -o "$1" || wrong "$2 is not emitted for $3"
}
checked=$((checked + 1))
text_of plain softmax.json "$card"
text_of near softmax.json "$card subgroup:32"
grep -qi 'sub_\?group' plain/kernels0.cl && wrong "a card without sub-groups is given some"
grep -q '^#define SUBGROUP 32$' near/kernels0.cl && grep -q '^IN_SUBGROUPS __kernel' near/kernels0.cl &&
    grep -q 'const float other0 = BEHIND(acc\[0\], 1);' near/kernels0.cl || wrong "lanes of a sub-group do not merge by it"
barriers() { grep -c '^ *barrier(' "$1/kernels0.cl"; }
[ "$(barriers near)" -lt $(($(barriers plain) - 8)) ] || wrong "barriers: $(barriers near) of $(barriers plain)"
text_of near few.json "$card subgroup:32" # a row is in one sub-group: no sums in memory
grep -q 'sums\[' near/kernels0.cl && wrong "a row of 20 is merged by memory"
if command -v clang >/dev/null && clang -x cl -cl-std=CL3.0 -fsyntax-only /dev/null 2>/dev/null; then
    text_of near all.json "$card subgroup:16"
    for has in cl_khr_subgroup_shuffle_relative cl_intel_required_subgroup_size; do
        clang -x cl -cl-std=CL3.0 -Xclang -finclude-default-header -fsyntax-only -w -D__opencl_c_subgroups -Dcl_khr_fp64 \
            -Dcl_khr_subgroup_shuffle_relative -D$has near/kernels0.cl || wrong "no OpenCL C, with $has"
    done
fi
expect 3 "at 'subgroup:x'" explain few.json --target opencl --machine "$card subgroup:x"

# ---- runs ----
apart=$BUILD/tests/oclapart/liboclapart.so
[ -e "$apart" ] && "$TESSERA" run few.json --target opencl --seed 1 -q --out try >said 2>&1 ||
    { echo "no OpenCL here: texts alone"; finish; }
expect 9 "kernels for lanes have sub-groups of 32 lanes" run few.json --seed 1 --target opencl --machine "$card subgroup:32"
export TESSERA_OPENCL="loader=$apart ${TESSERA_OPENCL:-}"
for lanes in 8 16 32; do
    [ $lanes = 16 ] && card="$card processor:2" # several rows in a group: lanes of one are in two sub-groups
    checked=$((checked + 1))
    rm -rf memory registers
    "$TESSERA" run all.json --seed 1 -q --target opencl --machine "$card warp:$lanes" --cache-dir none -o memory >said 2>&1 ||
        wrong "$(cat said)"
    OCLAPART_SUBGROUP=$lanes "$TESSERA" run all.json --seed 1 -q --target opencl --machine "$card subgroup:$lanes" \
        --cache-dir none -o registers >said 2>&1 || wrong "$(cat said)"
    [ "$(ls registers | wc -l)" = 5 ] && diff -r memory registers >/dev/null || wrong "other bits by sub-groups of $lanes lanes"
done
finish
