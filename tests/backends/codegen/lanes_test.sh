#!/bin/sh
# Functions of reals are vector code on every instruction set: kernels call no library for them, and the compiler says
# that each loop over them became vectors; in sums they are computed over lanes too.
# ctest: O3
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
command -v gcc >gcc.txt || { echo "gcc is not installed: it says what became vectors"; exit 77; }
model() { # of a dtype: each function of its own input, and one of them summed up
    printf '{"format": "graph/1", "opset": {"": 20}, "inputs": ['
    for f in $2; do printf '{"name": "x%s", "dtype": "%s", "shape": [40, 300]},' "$f" "$1"; done
    printf '{"name": "s", "dtype": "%s", "shape": [40, 300]}], "nodes": [' "$1"
    for f in $2; do
        [ "$f" = Pow ] && twice=", \"xPow\"" || twice=
        printf '{"op": "%s", "in": ["x%s"%s], "out": ["y%s"]},' "$f" "$f" "$twice" "$f"
    done
    printf '{"op": "Sin", "in": ["s"], "out": ["t"]}, {"op": "ReduceSum", "in": ["t"], "out": ["u"]}],\n"outputs": ['
    for f in $2; do printf '{"name": "y%s"},' "$f"; done
    printf '{"name": "u"}]}\n'
}
model f32 "Sin Cos Tan Exp Log Tanh Erf Pow" >f32.json
model f64 "Sin Cos Exp Log Tanh Erf" >f64.json
for isa in plain avx2 avx512; do
    case $isa in plain) flags= ;; avx2) flags="-mavx2 -mfma" ;; avx512) flags="-mavx512f -mavx512vl -mavx512dq -mfma" ;; esac
    for of in f32 f64; do
        rm -rf code
        expect 0 'wrote code' emit $of.json --isa plain --threads 1 -o code
        for k in code/k_*.c; do
            checked=$((checked + 1))
            rm -f vectors.txt # to which gcc would add
            gcc -std=gnu11 -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math -fno-tree-vectorize -fopenmp-simd \
                -DLOOPS_ARE_MARKED $flags -fopt-info-vec-optimized=vectors.txt -c -o k.o "$k" || wrong "$k: no code"
            nm -u k.o | grep -E ' (sin|cos|tan|exp|expm1|log|log1p|tanh|erf|pow|rint|floor)f?$' && wrong "$of, $isa: $k calls these"
            from=$(grep -n '^static void tile' "$k" | head -1 | cut -d: -f1)
            loops=$(tail -n "+$from" "$k" | grep -c '^ *SIMD$')
            if tail -n "+$from" "$k" | grep -q 'lanes_[a-z0-9]*(v'; then # the function's loop; those around its calls copy
                loops=1
            fi
            vectors=$(grep -c 'loop vectorized' vectors.txt) # at the line of the function that became part of the loop, too
            if grep -q '^    [a-z]* acc' "$k"; then # what is summed is a call; short loops are written out
                sed -n '/^static void tile/,$p' "$k" | grep -q 'lanes_sin' || wrong "$of: no sines over lanes in a sum" "$(cat "$k")"
            else
                [ "$vectors" -ge "$loops" ] || wrong "$of, $isa: $vectors of $loops loops are vectors" "$(sed -n '/^static void tile/,$p' "$k")"
            fi
        done
    done
done
finish
