#!/bin/sh
# Recurrent models take any length from one program, on the stand-in for the driver: tests/import/lengths.py.
# ctest: large Og timeout=900
. "$SOURCE/tests/backends/cuda/stand_in.sh"
. "$SOURCE/tests/import/python.sh"
python_needed "onnx, numpy"
"$python" "$SOURCE/tests/import/lengths.py" "$TESSERA" "$work" cuda
