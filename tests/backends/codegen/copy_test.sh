#!/bin/sh
# What a copy reads lies inside its array, also where a condition (here: strides, under the window of a pool) says nothing
# about the ends; what the condition itself keeps inside is read without a test.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
cat >strided.json <<'JSON'
{"format": "graph/1", "opset": {"": 17}, "outputs": [{"name": "y"}],
 "inputs": [{"name": "a", "dtype": "f32", "shape": [16, 5, 2, 13]}, {"name": "z", "dtype": "f32", "shape": [4, 25]},
            {"name": "w", "dtype": "f32", "shape": [5, 1, 2, 1]}, {"name": "b", "dtype": "f32", "shape": [1, 2, 1]}],
 "nodes": [{"op": "ConvTranspose", "in": ["a", "w"], "out": ["t"], "attr": {"strides": [2, 2]}},
           {"op": "Add", "in": ["z", "t"], "out": ["s"]}, {"op": "Max", "in": ["t", "s"], "out": ["m"]},
           {"op": "MaxPool", "in": ["m"], "out": ["p"],
            "attr": {"kernel_shape": [1, 3], "strides": [2, 2], "dilations": [2, 1], "pads": [0, 2, 0, 2]}},
           {"op": "Add", "in": ["p", "b"], "out": ["y"]}]}
JSON
cat >padded.json <<'JSON'
{"format": "graph/1", "opset": {"": 17}, "outputs": [{"name": "y"}],
 "inputs": [{"name": "a", "dtype": "f32", "shape": [1, 8, 20, 20]}, {"name": "w", "dtype": "f32", "shape": [24, 8, 3, 3]}],
 "nodes": [{"op": "Conv", "in": ["a", "w"], "out": ["y"], "attr": {"pads": [1, 1, 1, 1]}}]}
JSON
echo '{"format": "tiling/1", "rules": [{"loops": "oc/12+a oh ow/4 kh kw ic ow@unroll oc@vector"}]}' >tiling.json

# kept COUNT MODEL ARGUMENT...: so many of its lines that copy keep what they read inside
kept() {
    count=$1 model=$2
    shift 2
    checked=$((checked + 1))
    "$TESSERA" emit "$model.json" --isa plain --threads 1 -o "$model" "$@" -q || wrong "emit $model fails"
    cat "$model"/k_*.c | tr -s '\n ' ' ' | sed 's/; /;\n/g' | grep '\[.*copy[0-9]*\] = ' >copies # a statement a line || wrong "$model: nothing is copied"
    [ "$(grep -cF ' > 0 ? ' copies)" = "$count" ] || wrong "$model: not $count of these lines keep it inside" "$(cat copies)"
}
# a place that is one choice is added to a pointer
cat >reflected.json <<'JSON'
{"format": "graph/1", "opset": {"": 17}, "outputs": [{"name": "y"}], "inputs": [{"name": "a", "dtype": "f32", "shape": [31]}],
 "nodes": [{"op": "Constant", "in": [], "out": ["p"], "attr": {"value_ints": [4, 3]}},
           {"op": "Pad", "in": ["a", "p"], "out": ["y"], "attr": {"mode": "reflect"}}]}
JSON
echo '{"format": "tiling/1", "rules": [{"match": {"op": ["pad"]}, "loops": "e/8+a e"}]}' >slices.json
expect 0 '' run reflected.json --seed 1 --target interp --out rows -q
expect 0 '' run reflected.json --seed 1 -s ./slices.json --against rows
# rows of a padded image: what is inside is moved by vectors, what is around it becomes zeros
cat >rows.json <<'JSON'
{"format": "graph/1", "opset": {"": 17}, "outputs": [{"name": "y"}],
 "inputs": [{"name": "a", "dtype": "f32", "shape": [1, 3, 7, 45]}, {"name": "w", "dtype": "f32", "shape": [1, 3, 3, 5]}],
 "nodes": [{"op": "Conv", "in": ["a", "w"], "out": ["y"], "attr": {"pads": [1, 3, 1, 1]}}]}
JSON
echo '{"format": "tiling/1", "rules": [{"loops": "ow/32+a oh/4 ic kh kw oh@unroll ow@vector"}]}' >panels.json
expect 0 '' run rows.json --seed 1 --target interp --out rows -q
expect 0 '' run rows.json --seed 1 -s ./panels.json --against rows
checked=$((checked + 1))
"$TESSERA" emit rows.json --isa avx2 --threads 1 -o rows-c -s ./panels.json -q || wrong "emit rows fails"
[ "$(cat rows-c/k_*.c | grep -c 'u32x8_store(&((float \*)scratch)')" = 2 ] || wrong "padded rows are not copied by vectors"
kept 1 strided
kept 0 padded -s ./tiling.json
finish
