#!/bin/sh
# Every command of README.md and docs/ is one that there is, with its options; those that only show something are run. Pages that
# are run whole: tutorial_test.sh, tests/ontop.sh. ctest: large
set -eu
XDG_CACHE_HOME=$(mktemp -d)
trap 'rm -rf "$XDG_CACHE_HOME"' EXIT
export XDG_CACHE_HOME
"${PYTHON:-python3}" "$SOURCE/tests/docs/commands.py" "$TESSERA" "$SOURCE"
