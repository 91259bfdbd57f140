#!/bin/sh
# What quantize writes is what it says, and gives the same here and in ONNX Runtime, where it is installed: quantize.py.
# ctest: large
. "$SOURCE/tests/import/python.sh"
python_needed "onnx, onnxruntime, numpy"
"$python" "$SOURCE/tests/import/quantize.py" "$TESSERA" "$work"
