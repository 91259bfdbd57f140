#!/bin/sh
# Files that torch's two exporters write of small modules, where torch is installed: torch_exports.py.
# ctest: long
python=
for try in ${PYTHON:-} python3; do
    "$try" -c 'import torch, onnxscript, onnx, onnxruntime' 2>/dev/null && python=$try && break
done
[ -n "$python" ] || { echo "no Python with torch, onnxscript, onnx and onnxruntime"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" "$SOURCE/tests/import/torch_exports.py" "$TESSERA" "$work" 2>/dev/null
