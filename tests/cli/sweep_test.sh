#!/bin/sh
# Every option of every verb with wrong values: letters for numbers, negative and huge ones, missing files, folders for files.
# ctest: large
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
. "$SOURCE/tests/cli/verbs.sh"
TESSERA=$TESSERA "${PYTHON:-python3}" "$SOURCE/tests/cli/sweep.py" "$@" || wrong "a wrong value is taken, or refused badly"
checked=$((checked + 1))
finish
