#!/bin/sh
# Parts take units of a kernel's work: the trips of the loop over the cores and of those around it, counted together, the
# clipped one among them; where sums or a copy go from trip to trip of a loop around, or its trips are not alike, parts
# keep to their own. Numbers are the same whoever computes them.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
cat >product.json <<'JSON'
{"format": "graph/1", "opset": {"": 17}, "outputs": [{"name": "y"}],
 "inputs": [{"name": "a", "dtype": "f32", "shape": [6, 40, 64]}, {"name": "b", "dtype": "f32", "shape": [6, 64, 104]}],
 "nodes": [{"op": "MatMul", "in": ["a", "b"], "out": ["y"]}]}
JSON
"$TESSERA" run product.json --seed 1 --target interp --threads 1 -o want -q || wrong "the interpreter fails"

# walks WHAT LOOPS: the kernel of that schema contains the text, its numbers are the interpreter's, and those of one
# thread and of 9, more than each looks at, to the bit
walks() {
    checked=$((checked + 1))
    echo "{\"format\": \"tiling/1\", \"rules\": [{\"loops\": \"$2\"}]}" >tiling.json
    rm -rf code got1 got9
    "$TESSERA" emit product.json -s ./tiling.json --isa plain --threads 5 -o code -q || wrong "$2: emit fails"
    grep -qF "$1" code/k_*.c || wrong "$2: no $1" "$(sed -n '/^void k_/,$p' code/k_*.c)"
    for n in 1 9; do
        "$TESSERA" run product.json --seed 1 -s ./tiling.json --isa plain --threads $n -o got$n -q || wrong "$2: run fails"
    done
    "${PYTHON:-python3}" -c 'import numpy as n; n.testing.assert_allclose(n.load("got9/y.npy"), n.load("want/y.npy"), 1e-4, 1e-4)' ||
        wrong "$2: wrong numbers"
    cmp -s got1/y.npy got9/y.npy || wrong "$2: other bits on 9 threads"
}
walks 'next_units(share, 6, &u)' 'b@core m/4 n/8 k m@unroll n@vector'
walks 'for (long b_0 = u.from; b_0 < u.to; b_0++)' 'b@core m/4 n/8 k m@unroll n@vector'
walks 'next_units(share, 78, &u)' 'b n/8@core m/4 k m@unroll n@vector'
walks 'const long n_1 = chunk % 13;' 'b n/8@core m/4 k m@unroll n@vector'
walks 'if (chunk % 7 == 6) {' 'b n/16@core m/4 k m@unroll n@vector'
walks 'next_units(share, 6, &u)' 'm/20 m/8@core b m/4 n/8 k m@unroll n@vector'
walks 'share->part' 'm/12 n/8@core b m/4 k m@unroll n@vector'
walks 'share->part' 'k/16 b@core m/4 n/8 k m@unroll n@vector'
walks 'share->part' 'b+b n/8@core m/4 k m@unroll n@vector'
finish
