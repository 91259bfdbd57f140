#!/bin/sh
# Trees, linear models, support vectors and what prepares features, against numpy: classical.py. ctest: large
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
python3 "$SOURCE/tests/import/classical.py" "$TESSERA" "$work"
