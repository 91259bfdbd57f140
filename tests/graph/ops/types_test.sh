#!/bin/sh
# Element types, numbers of operands and attributes, against the specification where the onnx package is installed: onnx_types.py.
python=
for try in ${PYTHON:-} python3; do
    "$try" -c 'import onnx' 2>/dev/null && python=$try && break
done
[ -n "$python" ] || { echo "no Python with onnx"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$TESSERA" ops --json >"$work/ops.json" && "$python" "$SOURCE/tests/graph/ops/onnx_types.py" "$work/ops.json"
