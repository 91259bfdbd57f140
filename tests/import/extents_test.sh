#!/bin/sh
# Models as exporters write them, with a dimension that varies: the numbers that the interpreter finds for one extent, or the
# operation that forbids it. extents.expected has a line for each; BLESS=1 writes it anew.
# ctest: large Og timeout=900
set -eu
models=${SHARED:-$SOURCE/../shared}/models/exports-small
[ -d "$models" ] || { echo "no $models"; exit 77; }
"${PYTHON:-python3}" -c 'import numpy' || exit 77
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"${PYTHON:-python3}" "$SOURCE/tests/import/extents.py" "$TESSERA" "$models" "$dir" >"$dir/found"
[ -z "${BLESS:-}" ] || cp "$dir/found" "$SOURCE/tests/import/extents.expected"
diff -u "$SOURCE/tests/import/extents.expected" "$dir/found"
echo "$(wc -l <"$dir/found") dimensions of models"
# of a model that calls functions, too, a dimension that it does not have is what is wrong
! said=$("$TESSERA" show "$models/bert_fn15.onnx" --dim rows=7 2>&1)
case $said in *'the model has no dimension "rows"'*) ;; *) echo "$said"; exit 1 ;; esac
