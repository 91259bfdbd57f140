#!/bin/sh
# Every verb under strace: no network, and no file is changed but outputs, the cache and temporary ones: quiet.py.
# ctest: large Og
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
strace -f --seccomp-bpf true 2>/dev/null || { echo "skipped: no strace, or it may not trace here"; exit 77; }
. "$SOURCE/tests/cli/verbs.sh"
TESSERA=$TESSERA PYTHONDONTWRITEBYTECODE=1 "${PYTHON:-python3}" "$SOURCE/tests/cli/quiet.py" "$@" ||
    wrong "a verb goes to the network or writes elsewhere"
checked=$((checked + 1))
finish
