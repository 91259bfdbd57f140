#!/bin/sh
# peers_test.sh - the scripts of peers speak the protocol: absent without their package, right and timed with it.
set -eu
for python in ${PYTHON:-} python3 /usr/bin/python3; do
    "$python" -c 'import numpy' 2>/dev/null && exec "$python" -B "$SOURCE/tests/bench/peers.py" "$BUILD/peers"
done
echo "skipped: no Python with numpy"
exit 77
