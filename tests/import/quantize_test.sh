#!/bin/sh
# What quantize writes is what it says, and gives the same here and in ONNX Runtime, where it is installed: quantize.py.
# ctest: large
python=
for try in ${PYTHON:-} python3; do
    "$try" -c 'import onnx, onnxruntime, numpy' 2>/dev/null && python=$try && break
done
[ -n "$python" ] || { echo "no Python with onnx and onnxruntime"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" "$SOURCE/tests/import/quantize.py" "$TESSERA" "$work"
