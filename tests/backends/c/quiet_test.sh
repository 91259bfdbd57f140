#!/bin/sh
# Every source of an emitted program compiles without a warning as plain C11, by gcc and by clang, whatever flags its
# Makefile has; so does one that trains.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
command -v gcc >/dev/null || { echo "skipped: no gcc"; exit 77; }

# quiet FOLDER: all of it
quiet() {
    for compiler in gcc clang; do
        command -v $compiler >/dev/null || continue
        for source in "$1"/*.c; do
            checked=$((checked + 1))
            $compiler -std=c11 -Wall -Wextra -Werror -c "$source" -o object.o 2>log || wrong "$compiler: $source" "$(head -c 600 log)"
        done
    done
}

cat >recurrent.json <<'JSON'
{"format": "graph/1", "opset": {"": 21}, "inputs": [{"name": "x", "dtype": "f16", "shape": [3, 5]}, {"name": "i", "dtype": "i64", "shape": [2]}],
 "outputs": [{"name": "y"}, {"name": "places"}, {"name": "sum"}],
 "nodes": [{"op": "Gather", "in": ["x", "i"], "out": ["rows"]}, {"op": "Tanh", "in": ["rows"], "out": ["y"]},
  {"op": "TopK", "in": ["x", "k"], "out": ["most", "places"]}, {"op": "CumSum", "in": ["x32", "axis"], "out": ["sum"]},
  {"op": "Cast", "in": ["x"], "out": ["x32"], "attr": {"to": 1}}],
 "constants": {"k": {"dtype": "i64", "shape": [1], "data": [2]}, "axis": {"dtype": "i64", "shape": [], "data": [1]}}}
JSON
# values without elements, and sums over nothing, of which kernels read no operand
cat >nothing.json <<'JSON'
{"format": "graph/1", "opset": {"": 17}, "inputs": [{"name": "a", "dtype": "f32", "shape": [0, 4]}, {"name": "b", "dtype": "f32", "shape": [4, 0]}, {"name": "c", "dtype": "f32", "shape": [4, 4]}],
 "outputs": [{"name": "y"}, {"name": "log"}, {"name": "lengths"}, {"name": "product"}],
 "nodes": [{"op": "Exp", "in": ["a"], "out": ["y"]}, {"op": "LogSoftmax", "in": ["a"], "out": ["log"], "attr": {"axis": 0}},
  {"op": "ReduceL2", "in": ["b"], "out": ["length"], "attr": {"axes": [1]}}, {"op": "Mul", "in": ["length", "c"], "out": ["lengths"]},
  {"op": "MatMul", "in": ["b", "y"], "out": ["inner"]}, {"op": "Mul", "in": ["inner", "c"], "out": ["product"]}]}
JSON
emit() {
    "$TESSERA" emit "$@" -q || wrong "emit $* fails"
}
emit bert-tiny --dim seq=8 --threads 2 -o bert && quiet bert
emit resnet-tiny --threads 1 --isa plain -o resnet && quiet resnet
emit recurrent.json -o recurrent && quiet recurrent
emit nothing.json -o nothing && quiet nothing
finish
