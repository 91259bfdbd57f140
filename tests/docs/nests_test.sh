#!/bin/sh
# Every schema and nest of README.md and docs/ decides kernels with AVX2, AVX-512, NEON and plain C, and those for
# graphics processors on such a one: see nests.py. ctest: large
set -eu
XDG_CACHE_HOME=$(mktemp -d)
trap 'rm -rf "$XDG_CACHE_HOME"' EXIT
export XDG_CACHE_HOME
"${PYTHON:-python3}" "$SOURCE/tests/docs/nests.py" "$TESSERA" "$SOURCE"
