#!/bin/sh
# Written as graph/1 and as ONNX and read again, models mean the same: the cases with sequences, optionals and control
# flow, and small networks of real exporters with functions, loops and external data. What is exported, the official
# checker accepts, and ONNX Runtime computes the same with, where these are installed.
# ctest: large timeout=600
set -eu
archive=${SHARED:-}/data/onnx/backend-cases.tar.xz models=${SHARED:-}/models/exports-small
[ -r "$archive" ] || { echo "SHARED names no folder with data/onnx/backend-cases.tar.xz"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0
for variant in json onnx; do
    "$TESSERA" onnx-test "$archive" --tier SEQOPT,MODEL --target interp --variant $variant --quiet >"$dir/out" || bad=1
    grep ^FAILED "$dir/out" || :
    echo "$variant: $(tail -1 "$dir/out")"
done
python=
for try in ${PYTHON:-} python3; do
    "$try" -c 'import onnx, onnxruntime' 2>/dev/null && python=$try && break
done
for model in "$models"/*.onnx; do
    name=${model##*/} name=${name%.onnx}
    "$TESSERA" import "$model" -o "$dir/$name" -q && "$TESSERA" export "$dir/$name" -o "$dir/$name.onnx" -q || bad=1
    [ -z "$python" ] || "$python" "$SOURCE/tests/import/same_in_ort.py" "$model" "$dir/$name.onnx" \
        "$models/refs/$name"/test_data_set_* || bad=1
done
[ -n "$python" ] || echo "no Python with onnx and onnxruntime: nothing was asked of them"
exit $bad
