#!/bin/sh
# Element types, numbers of operands and attributes, against the specification where the onnx package is installed: onnx_types.py.
. "$SOURCE/tests/import/python.sh"
python_needed "onnx"
"$TESSERA" ops --json >"$work/ops.json" && "$python" "$SOURCE/tests/graph/ops/onnx_types.py" "$work/ops.json"
