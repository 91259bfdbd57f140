#!/bin/sh
# Random small graphs over extents of which a run says how long they are are right at every length, or refused.
# ctest: large Og timeout=900
. "$SOURCE/tests/import/python.sh"
python_needed "onnx, numpy"
"$python" "$SOURCE/tests/import/extents_random.py" "$TESSERA" "$work" 1 12 c
