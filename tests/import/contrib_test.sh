#!/bin/sh
# Operators of com.microsoft give what ONNX Runtime gives, where it is installed: contrib.py.
# ctest: large
. "$SOURCE/tests/import/python.sh"
python_needed "onnx, onnxruntime, numpy"
"$python" "$SOURCE/tests/import/contrib.py" "$TESSERA" "$work" interp c
