#!/bin/sh
# pinned_test.sh - all that goes to a device and comes from it lies in pinned memory: inputs, weights, results, the
# values of a plan over two devices. What is larger than a piece comes whole.
# ctest: drivers
. "$SOURCE/tests/cli/expect.sh"
. "$SOURCE/tests/backends/cuda/stand_in.sh"
cd "$dir" || exit 1
export SIMCUDA_COPIES=copies

# copied TO_DEVICE TO_HOST ARGUMENT...: at least so many copies, none of them of memory that is not pinned
copied() {
    least="$1 $2"
    shift 2
    checked=$((checked + 1))
    rm -rf copies result
    "$TESSERA" run "$@" --seed 1 -q -o result >said 2>&1 || { wrong "$*: $(cat said)"; return; }
    "${PYTHON:-python3}" - "$least" <<'PY' || wrong "$*: $(cat copies)"
import json, sys
to_device, to_host = map(int, sys.argv[1].split())
with open("copies") as f:
    c = json.load(f)
print(c)
sys.exit(c["pageable"] != 0 or c["to_device"] < to_device or c["to_host"] < to_host)
PY
}
copied 3 1 products --dim m=16 --dim k=24 --dim n=16 --dim layers=2 --target cuda # two weights and the input; the result
echo '{"format": "tiling/1", "rules": [{"match": {"op": ["layer_norm", "softmax"]}, "place": "c"}, {"place": "cuda:0"}]}' >places.json
copied 20 5 bert-tiny --dim seq=4 --target cuda:0,c -s ./places.json # both ways with each norm
# 12 MB each way: pieces in turn, each of which is used again
echo '{"format": "graph/1", "opset": {"": 20}, "outputs": [{"name": "y"}], "inputs": [{"name": "x", "dtype": "f32",
 "shape": [3145731]}], "nodes": [{"op": "Neg", "in": ["x"], "out": ["y"]}]}' >long.json
copied 1 4 long.json --target cuda
mv result from-cuda
"$TESSERA" run long.json --seed 1 -q --target c -o result
cmp result/y.npy from-cuda/y.npy || wrong "a long result comes back with other bytes"
finish
