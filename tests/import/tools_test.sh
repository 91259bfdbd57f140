#!/bin/sh
# Files that shape inference, simplifiers, optimizers and quantizers write of fifteen small models, where they are
# installed: tools.py.
# ctest: long
. "$SOURCE/tests/import/python.sh"
python_needed "onnx, onnxruntime.quantization, numpy"
"$python" "$SOURCE/tests/import/tools.py" "$TESSERA" "$work"
