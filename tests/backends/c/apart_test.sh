#!/bin/sh
# Tiles of many operands are functions that are called, and long unrolled loops without sums are unrolled in parts: gcc
# took half a minute and a minute for them otherwise.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
PYTHONPATH="$SOURCE/tests/train" "${PYTHON:-python3}" - <<'PY' || exit 77
import json, numpy as np
from weights import save
save({"w": np.ones((64, 64, 3, 3))})
json.dump({"format": "graph/1", "opset": {"": 17}, "inputs": [{"name": "x", "dtype": "f32", "shape": [1, 64, 32, 32]}],
           "outputs": [{"name": "y"}], "weights": {"file": "weights.safetensors"},
           "nodes": [{"op": "Conv", "in": ["x", "w"], "out": ["y"], "attr": {"pads": [1, 1, 1, 1]}}]}, open("conv.json", "w"))
PY
expect 0 "wrote code; build it" emit conv.json --threads 1 --machine "core:8 l3:1(32MB) isa:avx512" -o code
cat >halves.json <<'JSON'
{"format": "graph/1", "opset": {"": 17}, "outputs": [{"name": "y"}],
 "inputs": [{"name": "a", "dtype": "f16", "shape": [10, 48]}, {"name": "b", "dtype": "f16", "shape": [48]},
            {"name": "c", "dtype": "f16", "shape": [10, 48]}],
 "nodes": [{"op": "Add", "in": ["a", "b"], "out": ["s"]}, {"op": "LessOrEqual", "in": ["s", "c"], "out": ["y"]}]}
JSON
echo '{"format": "tiling/1", "rules": [{"loops": "b/5@core e@unroll b@vector"}]}' >unrolled.json
expect 0 "wrote halves; build it" emit halves.json -s ./unrolled.json --threads 1 --machine "core:8 l3:1(32MB) isa:avx512" -o halves
! grep -hE 'UNROLL\((1[7-9]|[2-9][0-9]|[0-9]{3,})\)' halves/k_*.c || wrong "more than 16 trips are written out together"
grep -q 'tile8(' code/k_*.c || wrong "no kernel has tiles of many operands"
for folder in code halves; do
    (ulimit -t 15 && make -C $folder CC=gcc >make.out 2>&1) || wrong "$folder: a compiler took more than 15 s" "$(tail -3 make.out)"
done
finish
