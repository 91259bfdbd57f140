#!/bin/sh
# Every operation against numpy: each case of each record, on seeded inputs, evaluated by the record's own oracle.
set -eu
python=${PYTHON:-python3}
"$python" -c 'import numpy' 2>/dev/null || python=/usr/bin/python3
"$python" -c 'import numpy' || { echo "numpy is missing: ./dev test installs it, as python3-numpy"; exit 1; }
exec "$python" "$SOURCE/tests/graph/ops/oracle.py" "$BUILD/tests/graph-ops-table-test"
