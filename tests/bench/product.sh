# product.sh - $dir/product.json, the model that the tests of bench race; sourced after tests/cli/expect.sh.
# shellcheck shell=sh
export TMPDIR="$dir"
cat >"$dir/product.json" <<'TEXT'
{ "format": "graph/1", "name": "product", "opset": { "": 17 },
  "inputs":  [ { "name": "x", "dtype": "f32", "shape": [256, 512] }, { "name": "w", "dtype": "f32", "shape": [512, 512] } ],
  "outputs": [ { "name": "y" } ],
  "nodes": [ { "name": "mm", "op": "MatMul", "in": ["x", "w"], "out": ["h"] },
             { "name": "act", "op": "Relu", "in": ["h"], "out": ["y"] } ] }
TEXT
