#!/bin/sh
# Files that tf2onnx writes, where TensorFlow is installed: tf_exports.py.
# ctest: long
. "$SOURCE/tests/import/python.sh"
python_needed "tensorflow, tf2onnx, onnx, onnxruntime"
"$python" "$SOURCE/tests/import/tf_exports.py" "$TESSERA" "$work"
