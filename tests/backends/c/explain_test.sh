#!/bin/sh
# What explain counts in a kernel's C is what its loops say: multiply-adds are those of the product, however it is tiled;
# each tile reads as much as its sides have; what a vector has too many of shows; of a run's extent it is the most.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
cat >product.json <<'JSON'
{"format": "graph/1", "opset": {"": 17}, "outputs": [{"name": "y"}],
 "inputs": [{"name": "a", "dtype": "f32", "shape": [24, 64]}, {"name": "b", "dtype": "f32", "shape": [64, 96]}],
 "nodes": [{"op": "MatMul", "in": ["a", "b"], "out": ["y"]}]}
JSON
counts() { # MODEL LOOPS KEY=NUMBER...
    checked=$((checked + 1))
    what=$2
    echo "{\"format\": \"tiling/1\", \"rules\": [{\"loops\": \"$2\"}]}" >tiling.json
    "$TESSERA" explain "$1" -s ./tiling.json --isa avx2 --threads 1 --json >plan.json || wrong "$2: explain fails"
    shift 2
    "${PYTHON:-python3}" - "$@" <<'PY' || wrong "$what"
import json, sys
have, bad = json.load(open("plan.json"))["kernels"][0]["instructions"], 0
for want in sys.argv[1:]:
    key, n = want.split("=")
    if have[key] != int(n):
        bad = print(f"{key}: {have[key]}, expected {n}") or 1
sys.exit(bad)
PY
}
fma=$((24 * 96 * 64 / 8)) # of vectors
# one read of each row and column of a tile for every step of the sum
counts product.json 'n/16 m/6 k m@unroll n@vector' multiply_adds=$fma broadcasts=$((fma / 2)) loads=$((fma / 6)) stores=288 scalars=0
counts product.json 'n/24 m/4 k/4 k@unroll m@unroll n@vector' multiply_adds=$fma broadcasts=$((fma / 3)) loads=$((fma / 4)) stores=288
counts product.json 'n/32@core m/3 k/16 k m@unroll n@vector' multiply_adds=$fma broadcasts=$((fma / 4)) loads=$((fma / 3)) stores=288
# sums that wait in the result: at most in each of four parts of k
counts product.json 'k/16 n/32@core m/3 k m@unroll n@vector' multiply_adds=$fma loads=$((fma / 3 + 288 * 4)) stores=$((288 * 4))
# rows that are left over: five tiles of five rows, of which the last has four
counts product.json 'n/16 m/5 k m@unroll n@vector' multiply_adds=$fma broadcasts=$((fma / 2)) loads=$((2 * 6 * 64 * 5)) stores=288
# columns beyond the last vector: 12 of 16 elements count
sed 's/96/12/' product.json >narrow.json
counts narrow.json 'm/6 k m@unroll n@vector' multiply_adds=$((24 * 2 * 64)) stores=48
# vectors along the rows: elements of b are broadcast, and not read as vectors along the columns besides
counts product.json 'm/8 n/8 k n@unroll m@vector' multiply_adds=$fma broadcasts=$fma loads=0
# one number at a time
counts product.json 'm n k' multiply_adds=0 scalars=$((24 * 96 * 64)) scalar_loads=$((2 * 24 * 96 * 64)) scalar_stores=$((24 * 96))
finish
