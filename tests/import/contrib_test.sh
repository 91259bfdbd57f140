#!/bin/sh
# Operators of com.microsoft give what ONNX Runtime gives, where it is installed: contrib.py.
# ctest: large
python=
for try in ${PYTHON:-} python3; do
    "$try" -c 'import onnx, onnxruntime, numpy' 2>/dev/null && python=$try && break
done
[ -n "$python" ] || { echo "no Python with onnx and onnxruntime"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" "$SOURCE/tests/import/contrib.py" "$TESSERA" "$work" interp c
