#!/bin/sh
# Functions of reals are those of vectors on every instruction set, in sums too, and kernels call no library for them.
# ctest: O3
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
command -v gcc >gcc.txt || { echo "gcc is not installed: it says what is called"; exit 77; }
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
            gcc -std=gnu11 -O2 -ffp-contract=off -fno-math-errno -fno-trapping-math $flags -c -o k.o "$k" || wrong "$k: no code"
            nm -u k.o | grep -E ' (sin|cos|tan|exp|expm1|log|log1p|tanh|erf|pow|rint|floor)f?$' && wrong "$of, $isa: $k calls these"
            sed -n '/^static void tile/,$p' "$k" >tiles
            grep -q 'fast_[a-z0-9]*_x[0-9]*(\|near_[a-z0-9]*_x' tiles || wrong "$of: no function of vectors" "$(cat tiles)"
            grep -q 'fast_[a-z0-9]*(' tiles && wrong "$of: a function of one value" "$(cat tiles)"
        done
    done
done
finish
