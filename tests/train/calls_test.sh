#!/bin/sh
# Files that fail, kills and losses of power at system calls of a run: calls.py. By hand all: calls.py 100000.
# ctest: large Og
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
strace -f --seccomp-bpf true 2>/dev/null || { echo "skipped: no strace, or it may not trace here"; exit 77; }
"${PYTHON:-python3}" "$SOURCE/tests/train/fixture.py" . || exit 77
SEED=1 TESSERA=$TESSERA "${PYTHON:-python3}" "$SOURCE/tests/train/calls.py" 24 || wrong "stopped at a system call, a run is another one"
checked=1
finish
