#!/bin/sh
# Stopped twenty times at random moments, a run ends with the bits, the metrics and the evaluations of one left alone.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
"${PYTHON:-python3}" "$SOURCE/tests/train/fixture.py" . || exit 77
"${PYTHON:-python3}" "$SOURCE/tests/train/kill.py" "$TESSERA" || wrong "stopped twenty times, a run is another one"
checked=1
finish
