#!/bin/sh
# What explain says of matrix units: their time is that of the unit which the loops name, and products of f32 in fewer bits
# are formed by four warps together, too, where the card has that and a rule asks for it. Operands of a kernel that reads more
# values than there are letters have names that are told apart.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
export TESSERA_CUDA=nvrtc=/nowhere # registers are estimated
product() { # DTYPE: all of it fits into the second cache
    cat <<JSON
{"format": "graph/1", "opset": {"": 17}, "outputs": [{"name": "y"}],
 "inputs": [{"name": "a", "dtype": "$1", "shape": [2048, 4096]}, {"name": "b", "dtype": "$1", "shape": [4096, 2048]}],
 "nodes": [{"op": "MatMul", "in": ["a", "b"], "out": ["y"]}]}
JSON
}
product bf16 >halves.json
product f32 >whole.json
tile() { # NAME LOOPS
    echo "{\"format\": \"tiling/1\", \"rules\": [{\"loops\": \"$2\"}]}" >"$1.json"
}
tile one 'm/128@block n/256@block k/64+a@shared*3+b@shared*3 k/16@unroll m/64@warp n/64@warp m/16@unroll n/8@unroll m@mma n@mma k@mma'
tile four 'm/128@block n/256@block k/64+a@shared*3+b@shared*3 k/16@unroll m/16@warp m@mma n@mma k@mma'
for unit in one four; do
    "$TESSERA" explain halves.json --target cuda --machine gpu:h100 -s ./$unit.json --json >$unit.plan || wrong "explain fails"
done
expect 0 'target cuda  h100' explain halves.json --machine gpu:h100 # a card says which target is meant
expect 0 'target opencl  h100' explain halves.json --machine gpu:h100 --target opencl
expect 0 'target c  avx2' explain whole.json --machine 'core:4 isa:avx2'
expect 3 'machine: one of package' explain whole.json --machine tpu:4
checked=$((checked + 1))
"${PYTHON:-python3}" - <<'PY' || wrong "times do not tell units apart"
import json, sys
one, four = (json.load(open(f"{name}.plan"))["kernels"][0]["group"] for name in ("one", "four"))
cycles = 16 * 8 / 128 * 128 * 256 * 4096 / (4096 / 2)  # of a group, at the rate of a processor of 9.0
apart, want = one["predicted_ns"] - four["predicted_ns"], cycles * (1 / 0.62 - 1 / 0.95) / 8 / 1.755
print(f"{one['bound']}, {four['bound']}: {apart:.0f} ns apart, {want:.0f} of it products")
sys.exit({one["bound"], four["bound"]} != {"cache"} or apart < 0.95 * want)
PY
unit() { # ARGUMENT...: which one forms the product of f32
    "$TESSERA" explain whole.json --target cuda --json "$@" |
        "${PYTHON:-python3}" -c 'import json, sys; p = json.load(sys.stdin)["kernels"][0]["group"]["products"][0]; print(p.get("unit", p.get("why")))'
}
checked=$((checked + 3))
new=$(unit --machine gpu:h100 -s tf32) old=$(unit --machine gpu:a100 -s tf32) none=$(unit --machine gpu:h100)
case $new in '64 x '*' x 8 of f32, 4 warps together') ;; *) wrong "on 9.0 it is $new" ;; esac
[ "$old" = '16 x 8 x 8 of f32' ] || wrong "on 8.0 it is $old"
[ "$none" = 'f32 is taken in fewer bits only where a rule computes in tf32' ] || wrong "without a rule: $none"

checked=$((checked + 1))
"${PYTHON:-python3}" - <<'PY'
import json
names = [f"x{i}" for i in range(40)]
port = [{"name": n, "dtype": "f32", "shape": [64]} for n in names]
json.dump({"format": "graph/1", "opset": {"": 17}, "inputs": port, "outputs": [{"name": "y"}],
           "nodes": [{"op": "Sum", "in": names, "out": ["y"]}]}, open("many.json", "w"))
PY
"$TESSERA" explain many.json --target cuda --machine gpu:h100 --json >many.plan || wrong "explain fails of 40 operands"
"${PYTHON:-python3}" - <<'PY' || wrong "operands are not told apart"
import json, sys
k, = json.load(open("many.plan", encoding="utf-8"))["kernels"]
read = [[o["operand"] for o in of if o["operand"] != "y"] for of in (k["operands"], k["group"]["accesses"])]
print(*read[0])
sys.exit(any(len(set(r)) < 39 or not all(n.isalnum() and n.isascii() for n in r) for r in read))
PY
finish
