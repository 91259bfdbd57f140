#!/bin/sh
# pinned_test.sh - where a device has memory of its own, all that goes there and comes from it lies in memory that its
# driver gave: inputs, weights, results, the values of a plan over two devices, states that a step rewrites. What is
# larger than a piece comes whole. Results are those of a device that shares the host's memory, where nothing is staged.
. "$SOURCE/tests/cli/expect.sh"
apart=$BUILD/tests/oclapart/liboclapart.so
[ -e "$apart" ] || { echo "skipped: no loader of OpenCL"; exit 77; }
cd "$dir" || exit 1
"$TESSERA" run products --dim m=1 --dim k=1 --dim n=1 --dim layers=1 --seed 1 --target opencl -q --out try 2>why ||
    { echo "skipped: $(head -n 1 why)"; exit 77; }

# copied TO_DEVICE TO_HOST ARGUMENT...: so many copies (patterns), all of memory that is the driver's; the same results
copied() {
    want="{\"to_device\":$1,\"to_host\":$2,\"pageable\":0}"
    shift 2
    checked=$((checked + 1))
    rm -rf copies shared apart
    "$TESSERA" run "$@" --seed 1 -q -o shared >said 2>&1 || { wrong "$*: $(cat said)"; return; }
    TESSERA_OPENCL="loader=$apart ${TESSERA_OPENCL:-}" OCLAPART_COPIES=copies "$TESSERA" run "$@" --seed 1 -q -o apart >said 2>&1 ||
        { wrong "$*: $(cat said)"; return; }
    grep -qx "$want" copies || wrong "$*: $(cat copies), wanted $want"
    diff -r shared apart >/dev/null || wrong "$*: other results"
}
# Two weights, an input; a result
copied 3 1 products --dim m=16 --dim k=24 --dim n=16 --dim layers=2 --target opencl
echo '{"format": "tiling/1", "rules": [{"match": {"op": ["layer_norm", "softmax"]}, "place": "c"},
 {"place": "opencl:0"}]}' >places.json
copied "[1-9][0-9]" "[1-9]" bert-tiny --dim seq=4 --target opencl:0,c -s ./places.json
# 12 MB and three floats each way: pieces in turn, each of which is used again
echo '{"format": "graph/1", "opset": {"": 20}, "outputs": [{"name": "y"}], "inputs": [{"name": "x", "dtype": "f32",
 "shape": [3145731]}], "nodes": [{"op": "Neg", "in": ["x"], "out": ["y"]}]}' >long.json
copied 4 4 long.json --target opencl
finish
