#!/bin/sh
# Files that shape inference, simplifiers, optimizers and quantizers write of twelve small models, where they are
# installed: tools.py.
# ctest: long
python=
for try in ${PYTHON:-} python3; do
    "$try" -c 'import onnx, onnxruntime.quantization, numpy' 2>/dev/null && python=$try && break
done
[ -n "$python" ] || { echo "no Python with onnx and onnxruntime"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" "$SOURCE/tests/import/tools.py" "$TESSERA" "$work"
