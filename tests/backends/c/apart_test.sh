#!/bin/sh
# Tiles of many operands are functions that are called: inlined, a kernel of them took gcc half a minute.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
PYTHONPATH="$SOURCE/tests/bench/train" "${PYTHON:-python3}" - <<'PY' || exit 77
import json, numpy as np
from weights import save
save({"w": np.ones((64, 64, 3, 3))})
json.dump({"format": "graph/1", "opset": {"": 17}, "inputs": [{"name": "x", "dtype": "f32", "shape": [1, 64, 32, 32]}],
           "outputs": [{"name": "y"}], "weights": {"file": "weights.safetensors"},
           "nodes": [{"op": "Conv", "in": ["x", "w"], "out": ["y"], "attr": {"pads": [1, 1, 1, 1]}}]}, open("conv.json", "w"))
PY
expect 0 "wrote code; build it" emit conv.json --threads 1 --isa avx512 -o code
grep -q 'tile8(' code/k_*.c || wrong "no kernel has tiles of many operands"
(ulimit -t 8 && make -C code CC=gcc >make.out 2>&1) || wrong "a compiler took more than 8 s" "$(tail -3 make.out)"
finish
