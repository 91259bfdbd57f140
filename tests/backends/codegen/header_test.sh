#!/bin/sh
# What a kernel computes stands above it: the operation, its axes, operands, loops, work and traffic; equal kernels of
# different steps share one unit, which lists the layers that it serves, and nothing of their names but plain letters gets
# there. The same program is built whether headers are there or not.
# ctest: fast
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
cat >two.json <<'JSON'
{"format": "graph/1", "opset": {"": 17}, "outputs": [{"name": "x"}, {"name": "y"}],
 "inputs": [{"name": "a", "dtype": "f32", "shape": [20, 32]}, {"name": "b", "dtype": "f32", "shape": [32, 32]},
            {"name": "c", "dtype": "f32", "shape": [20, 32]}],
 "nodes": [{"name": "first */ #error\\ é", "op": "MatMul", "in": ["a", "b"], "out": ["x"]},
           {"name": "second", "op": "MatMul", "in": ["c", "b"], "out": ["y"]}]}
JSON
long=$(printf '%090d' 0)
sed "s/second/$long/" two.json >long.json
echo '{"format": "tiling/1", "rules": [{"match": {"op": "matmul"}, "loops": "m/4 n/8 k m@unroll n@vector"}]}' >tiling.json
expect 0 'wrote code' emit two.json -s ./tiling.json --isa plain --threads 1 -o code
checked=$((checked + 1))
[ "$(ls code/k_*.c | wc -l)" = 1 ] || wrong "equal kernels are not one unit" "$(ls code)"
says() {
    checked=$((checked + 1))
    grep -qxF -- "$1" code/k_*.c || wrong "the header does not say: $1" "$(grep '^/\?  *\*' code/k_*.c)"
}
says '/* layers:'
says ' *   k0 first__/__error____'
says ' *   k1 second */'
says '/* matmul'
says ' *   matmul: m 20, n 32; sums up k 32'
says ' * f32[20,32] from f32[20,32], f32[32,32]'
says ' * loops: m/4 n/8 k m@unroll n@vector'
says ' * 40960 operations on reals, 9216 bytes of operands and results, 0 of scratch */'
for target in c cuda; do # of a card that need not be here, too
    case $target in c) set -- --isa plain ;; *) set -- --target cuda --machine gpu:h100 ;; esac
    expect 0 'wrote' emit long.json "$@" -o "$target"
    checked=$((checked + 1))
    grep -qxF " *   k1 $(printf '%080d' 0)... */" "$target"/k_*.c* || wrong "no layer" "$(grep -A 2 layers "$target"/k_*.c*)"
done
expect 0 'wrote' emit bert-tiny --dim seq=16 --isa plain --single bert.c --weights beside
checked=$((checked + 1))
for name in query key value; do
    grep -qE "^ \*   k[0-9]+ encoder.layer.1.attention.self.$name.weight( \*/)?$" bert.c || wrong "no layer $name" "$(grep '^ \* *k' bert.c)"
done
finish
