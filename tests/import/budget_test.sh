#!/bin/sh
# Reading costs next to nothing, whatever a file holds or asks for: budget.py. ctest: large
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PYTHONPATH=$SOURCE/tests/import python3 "$SOURCE/tests/import/budget.py" "$TESSERA" "$work"
