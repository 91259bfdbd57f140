#!/bin/sh
# Recurrent models take any length from one program: lengths.py.
# ctest: large Og timeout=900
. "$SOURCE/tests/import/python.sh"
python_needed "onnx, numpy"
"$python" "$SOURCE/tests/import/lengths.py" "$TESSERA" "$work" c
