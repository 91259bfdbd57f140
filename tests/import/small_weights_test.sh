#!/bin/sh
# Small weights of 8 bits stay integers, which products take as these: constants are folded, but not into reals of more
# bytes. A bias of 32 bits is folded, as nothing is won by keeping it.
# ctest: fast
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
cat >model.json <<'JSON'
{"format": "graph/1", "opset": {"": 17}, "outputs": [{"name": "y"}],
 "constants": {"s": {"dtype": "f32", "shape": [], "data": [0.5]}, "z": {"dtype": "i8", "shape": [], "data": [1]},
  "t": {"dtype": "f32", "shape": [], "data": [0.25]}, "none": {"dtype": "i32", "shape": [], "data": [0]},
  "w": {"dtype": "i8", "shape": [2, 3], "data": [1, -2, 3, 4, -5, 6]},
  "v": {"dtype": "i32", "shape": [3], "data": [40, -50, 60]}},
 "inputs": [{"name": "a", "dtype": "f32", "shape": [4, 2]}],
 "nodes": [{"op": "DequantizeLinear", "in": ["w", "s", "z"], "out": ["b"]},
  {"op": "MatMul", "in": ["a", "b"], "out": ["p"]},
  {"op": "DequantizeLinear", "in": ["v", "t", "none"], "out": ["c"]}, {"op": "Add", "in": ["p", "c"], "out": ["y"]}]}
JSON
expect 0 'dequantize(' show model.json --stage folded
expect 0 'const {1,-2,3,4,-5,6} : i8[2,3]' show model.json --stage folded
expect 0 'const {10,-12.5,15} : f32[3]' show model.json --stage folded
finish
