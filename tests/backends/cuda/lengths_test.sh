#!/bin/sh
# Recurrent models take any length from one program, on the stand-in for the driver: tests/import/lengths.py.
# ctest: large Og timeout=900
. "$SOURCE/tests/backends/cuda/stand_in.sh"
python=
for try in ${PYTHON:-} python3; do
    "$try" -c 'import onnx, numpy' 2>/dev/null && python=$try && break
done
[ -n "$python" ] || { echo "no Python with onnx"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" "$SOURCE/tests/import/lengths.py" "$TESSERA" "$work" cuda
