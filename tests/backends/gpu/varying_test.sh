#!/bin/sh
# Programs of which a run says extents, on devices: results of every extent are those of a program for it alone.
# ctest: O1
. "$SOURCE/tests/cli/expect.sh"
. "$SOURCE/tests/backends/cuda/stand_in.sh"
cd "$dir" || exit 1
cp "$SOURCE/tests/backends/gpu/rows.json" .
cat >cache.json <<'TEXT'
{ "format": "graph/1", "opset": { "": 17 },
  "inputs": [ { "name": "kept", "dtype": "f32", "shape": ["past", 16] }, { "name": "x", "dtype": "f32", "shape": [1, 16] } ],
  "outputs": [ { "name": "all" }, { "name": "y" } ],
  "nodes": [ { "op": "Concat", "in": ["kept", "x"], "out": ["all"], "attr": { "axis": 0 } },
    { "op": "Transpose", "in": ["all"], "out": ["t"], "attr": { "perm": [1, 0] } },
    { "op": "MatMul", "in": ["x", "t"], "out": ["s"] }, { "op": "Softmax", "in": ["s"], "out": ["p"] },
    { "op": "MatMul", "in": ["p", "all"], "out": ["y"] } ] }
TEXT
same() { # same TARGET MODEL RANGE AT
    checked=$((checked + 1))
    "$TESSERA" bench "$2" --dim "$3" --at "$4" --target "$1" --min-time 1ms --json >race.json 2>said &&
        "${PYTHON:-python3}" -c 'import json
assert all(r["apart"] < 2e-5 for r in json.load(open("race.json"))["at"])' || wrong "$1: $2 at $4" "$(head -c 600 race.json said)"
}
targets=cuda
"$TESSERA" run rows.json --dim seq=2 --random --target opencl -q >/dev/null 2>&1 && targets="cuda opencl"
for target in $targets; do
    same "$target" rows.json seq=1..20 seq=3
    same "$target" cache.json past=1..9 past=5
done
finish
