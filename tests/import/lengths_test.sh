#!/bin/sh
# Recurrent models take any length from one program: lengths.py.
# ctest: large Og timeout=900
python=
for try in ${PYTHON:-} python3; do
    "$try" -c 'import onnx, numpy' 2>/dev/null && python=$try && break
done
[ -n "$python" ] || { echo "no Python with onnx"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" "$SOURCE/tests/import/lengths.py" "$TESSERA" "$work" c
