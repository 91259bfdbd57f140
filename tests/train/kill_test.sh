#!/bin/sh
# Killed twenty times at random moments, a run ends with the bits and the metrics of one that was left alone.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
"${PYTHON:-python3}" "$SOURCE/tests/train/fixture.py" . || exit 77
"${PYTHON:-python3}" "$SOURCE/tests/train/kill.py" "$TESSERA" || wrong "killed twenty times, a run is another one"
checked=1
finish
