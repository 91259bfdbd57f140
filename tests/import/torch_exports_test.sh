#!/bin/sh
# Files that torch's two exporters write of small modules, where torch is installed: torch_exports.py.
# ctest: long
. "$SOURCE/tests/import/python.sh"
python_needed "torch, onnxscript, onnx, onnxruntime"
"$python" "$SOURCE/tests/import/torch_exports.py" "$TESSERA" "$work" 2>/dev/null
