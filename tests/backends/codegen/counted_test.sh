#!/bin/sh
# Tiles that differ only in how many trips a sum makes are one tile, told how many; numbers stay those of the interpreter.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
cat >product.json <<'JSON'
{"format": "graph/1", "opset": {"": 17}, "outputs": [{"name": "y"}],
 "inputs": [{"name": "a", "dtype": "f32", "shape": [8, 64]}, {"name": "b", "dtype": "f32", "shape": [64, 16]}],
 "nodes": [{"op": "MatMul", "in": ["a", "b"], "out": ["y"]}]}
JSON
"$TESSERA" run product.json --seed 1 --target interp --threads 1 -o want -q >/dev/null || wrong "the interpreter fails"

# tiles NUMBER LOOPS: so many tile functions; the numbers are right
tiles() {
    checked=$((checked + 1))
    echo "{\"format\": \"tiling/1\", \"rules\": [{\"loops\": \"$2\"}]}" >tiling.json
    rm -rf code got
    "$TESSERA" emit product.json -s ./tiling.json --isa plain --threads 1 -o code -q || wrong "$2: emit fails"
    n=$(grep -c '^static void tile' code/k_*.c)
    [ "$n" = "$1" ] || wrong "$2: $n tiles, expected $1" "$(grep '^static void tile' code/k_*.c)"
    "$TESSERA" run product.json --seed 1 -s ./tiling.json --isa plain --threads 1 -o got -q >/dev/null || wrong "$2: run fails"
    "${PYTHON:-python3}" -c 'import numpy as n; n.testing.assert_allclose(n.load("got/y.npy"), n.load("want/y.npy"), 1e-4, 1e-5)' ||
        wrong "$2: wrong numbers"
}
tiles 1 'k/24 m/4 n/8 k m@unroll n@vector'
tiles 1 'k/24 m/4 n/8 k/8 k m@unroll n@vector'
tiles 1 'k/24 m/4 n/8 k/4 k@unroll m@unroll n@vector'
tiles 1 'k/40 k/24 m/4 n/8 k/8 k m@unroll n@vector'
tiles 2 'k/24 m/4 n/8 k/6 k m@unroll n@vector' # of 16, two trips and a clipped one
tiles 2 'k/24 m/4 n/8 k@unroll m@unroll n@vector'
tiles 2 'm/3 k/24 n/8 k m@unroll n@vector' # rows that are clipped stay in registers
finish
