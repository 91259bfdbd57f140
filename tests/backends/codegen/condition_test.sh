#!/bin/sh
# Lanes that read on a condition read nothing where it does not hold: gcc makes of a mask that it knows and the blend
# behind it one instruction that reads every lane. Kernels for AVX-512 are compiled, not run: any machine can look.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
case $(uname -m) in x86_64) ;; *) echo "skipped: not x86-64"; exit 77 ;; esac
command -v gcc >/dev/null || { echo "skipped: no gcc"; exit 77; }
python3 - <<'PY'
import json
for dtype in "f32", "f64", "i32", "i16":
    for first in 3, 4, 5:
        json.dump({"format": "graph/1", "opset": {"": 21},
            "inputs": [{"name": "a", "dtype": dtype, "shape": [2, first]}, {"name": "b", "dtype": dtype, "shape": [2, 3]}],
            "outputs": [{"name": "y"}],
            "constants": {"c": {"dtype": dtype, "shape": [2, 3], "data": [1, 2, 3, 4, 5, 6]}},
            "nodes": [{"op": "Concat", "in": ["a", "c", "b"], "out": ["y"], "attr": {"axis": 1}}]},
            open(f"{dtype}-{first}.json", "w"))
PY
for graph in *.json; do
    out=${graph%.json}
    expect 0 "wrote $out; build it" emit "$graph" --machine "core:8 l3:1(32MB) isa:avx512" --threads 1 -o "$out"
    for kernel in "$out"/k_*.c; do
        checked=$((checked + 1))
        gcc $(sed -n 's/^CFLAGS = //p' "$out/Makefile") -S "$kernel" -o kernel.s 2>log || wrong "gcc refuses $kernel" "$(cat log)"
        grep -E 'blend.*\$[0-9]+, [^%]*\(' kernel.s && wrong "$kernel reads lanes whose condition does not hold"
    done
done
finish
