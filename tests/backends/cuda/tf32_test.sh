#!/bin/sh
# ctest: large
# Products of f32 are formed of fewer bits only where a rule says so: then matrix units form all of them, and results are
# as near as ten bits behind the first are.
. "$SOURCE/tests/cli/expect.sh"
driver=$BUILD/tests/gpusim/libcuda.so.1
[ -r "$driver" ] || { echo "no stand-in for the driver of CUDA"; exit 77; }
export TESSERA_CUDA="driver=$driver,ptx,${TESSERA_CUDA:-}" SIMCUDA_CHECK=all SIMCUDA_VERBOSE=0
cd "$dir" || exit 1
cat >product.json <<'JSON'
{"format": "graph/1", "opset": {"": 17}, "outputs": [{"name": "y"}],
 "inputs": [{"name": "a", "dtype": "f32", "shape": [2, 40, 96]}, {"name": "b", "dtype": "f32", "shape": [2, 96, 72]},
            {"name": "v", "dtype": "f32", "shape": [2, 72, 24]}],
 "nodes": [{"op": "MatMul", "in": ["a", "b"], "out": ["s"]}, {"op": "Softmax", "in": ["s"], "out": ["p"]},
           {"op": "MatMul", "in": ["p", "v"], "out": ["y"]}]}
JSON
units() { # how many products matrix units form, and how many they do not
    "$TESSERA" explain product.json --target cuda --machine gpu:a100 -q "$@" |
        awk '/: by matrix units/ {n++} /not by matrix units/ {m++} END {print n + 0, m + 0}'
}
checked=$((checked + 2))
[ "$(units)" = "0 2" ] || wrong "without a rule: $(units)"
[ "$(units -s tf32)" = "2 0" ] || wrong "with it: $(units -s tf32)"
run() { # OUT ARGUMENT...
    out=$1
    shift
    "$TESSERA" run product.json --seed 1 -q -o "$out" "$@" >said 2>&1 && return
    grep -q NVRTC said && { echo "no NVRTC"; exit 77; }
    wrong "it fails: $(cat said)"
}
run judge --target interp
run whole --target cuda
run fewer --target cuda -s tf32
checked=$((checked + 1))
"${PYTHON:-python3}" - <<'PY' || wrong "results are elsewhere than they should be"
import struct, sys
def load(folder):
    with open(f"{folder}/y.npy", "rb") as f:
        b = f.read()
    d = b[10 + struct.unpack("<H", b[8:10])[0]:]
    return struct.unpack(f"<{len(d) // 4}f", d)
judge, whole, fewer = load("judge"), load("whole"), load("fewer")
off = [max(abs(p - q) for p, q in zip(judge, y)) / max(map(abs, judge)) for y in (whole, fewer)]
print(f"off by {off[0]:.1e} in f32, {off[1]:.1e} in tf32")
sys.exit(not (off[0] < 1e-5 and 1e-5 < off[1] < 1e-2))
PY
finish
