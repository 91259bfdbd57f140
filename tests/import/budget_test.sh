#!/bin/sh
# Reading costs next to nothing, whatever a file holds or asks for: budget.py. A sum of so many zeros ends because gcc
# sees what it comes to. ctest: large O3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PYTHONPATH=$SOURCE/tests/import python3 "$SOURCE/tests/import/budget.py" "$TESSERA" "$work"
