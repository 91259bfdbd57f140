#!/bin/sh
# Where what follows sums has more numbers than registers are left, the sums wait in memory and a loop goes over rows of
# the tile; where there are enough they stay. Rounding takes no division, and to natural numbers no test for what is no
# number, nor a second limit, and each of several is a step of its own over all rows. Numbers are those of the interpreter.
# ctest: fast
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
model() { # OFF NODES: behind a product p of 26 rows; by how much a sum, or a step of rounding, moves the result
    cat >model.json <<JSON
{"format": "graph/1", "opset": {"": 17}, "outputs": [{"name": "y"}],
 "constants": {"s": {"dtype": "f32", "shape": [], "data": [0.037]}, "z": {"dtype": "u8", "shape": [], "data": [124]}},
 "inputs": [{"name": "a", "dtype": "f32", "shape": [26, 64]}, {"name": "b", "dtype": "f32", "shape": [64, 24]}],
 "nodes": [{"op": "MatMul", "in": ["a", "b"], "out": ["p"]}, $2]}
JSON
    echo '{"format": "tiling/1", "rules": [{"loops": "m/6 n/8 k m@unroll n@vector"}]}' >tiling.json
    rm -rf code
    checked=$((checked + 1))
    "$TESSERA" emit model.json -s ./tiling.json --isa plain --threads 1 -o code -q || wrong "emit fails"
    for target in interp c; do
        "$TESSERA" run model.json --seed 1 --target $target --isa plain --threads 1 -o $target -q >/dev/null ||
            wrong "run on $target fails"
    done
    same="import numpy as n; n.testing.assert_allclose(n.load('c/y.npy'), n.load('interp/y.npy'), 0, $1)"
    "${PYTHON:-python3}" -c "$same" || wrong "wrong numbers"
}
model 0.0371 '{"op": "QuantizeLinear", "in": ["p", "s", "z"], "out": ["q"]},
       {"op": "DequantizeLinear", "in": ["q", "s", "z"], "out": ["y"]}'
grep -q 'sums\[m_3\]' code/k_*.c || wrong "12 sums stay beside 5 numbers in 16 registers"
grep -q 'for (long m_3 = 0; m_3 < 6; m_3++) {' code/k_*.c || wrong "no loop goes over rows"
grep -q 'quotient_x4(' code/k_*.c || wrong "what is rounded is divided"
grep -q 'x4_min(f32x4_above(' code/k_*.c || wrong "what is no number is not limited"
! grep -Eq 'blend\(\(i32x4\)\(v|splat\(124|uint8_t' code/k_*.c || wrong "a zero is added and taken off again"
model 1 '{"op": "QuantizeLinear", "in": ["p", "s", "z"], "out": ["y"]}'
grep -q 'i8x4_narrow(i32x4_of((quotient_x4(' code/k_*.c || wrong "what is rounded to bytes is limited once more"
! grep -q 'f32x4_rint(' code/k_*.c || wrong "what is of few bits is rounded in two steps"
model 0.0371 '{"op": "QuantizeLinear", "in": ["p", "s", "z"], "out": ["q"]},
       {"op": "DequantizeLinear", "in": ["q", "s", "z"], "out": ["r"]}, {"op": "Relu", "in": ["r"], "out": ["t"]},
       {"op": "QuantizeLinear", "in": ["t", "s", "z"], "out": ["u"]},
       {"op": "DequantizeLinear", "in": ["u", "s", "z"], "out": ["y"]}'
[ "$(grep -c '^ *sums\[m_3\][^=]* =' code/k_*.c)" = 2 ] || wrong "two roundings are no steps of one each"
model 5e-5 '{"op": "Div", "in": ["p", "s"], "out": ["q"]}, {"op": "Erf", "in": ["q"], "out": ["y"]}'
! grep -q '/ f32x4_splat' code/k_*.c || wrong "what erf is taken of is divided"
model 1e-5 '{"op": "Relu", "in": ["p"], "out": ["y"]}'
! grep -q 'sums\[' code/k_*.c || wrong "12 sums leave 16 registers for one number"
finish
