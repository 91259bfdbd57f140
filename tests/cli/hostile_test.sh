#!/bin/sh
# Names from files that try to be something else, through everything that is printed and written: hostile.py.
# ctest: Og
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
mkdir "$work/in"
python3 "$SOURCE/tests/cli/hostile.py" "$TESSERA" "$work/in"
