#!/bin/sh
# Written as graph/1 and as ONNX and read again, models mean the same: the cases with sequences, optionals and control
# flow, and small networks of real exporters with functions, loops and external data. What is exported, the official
# checker accepts, and ONNX Runtime computes the same with, where these are installed.
# ctest: large Og
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
. "$SOURCE/tests/import/python.sh"
python_with "onnx, onnxruntime" || :
for model in "$models"/*.onnx; do
    name=${model##*/} name=${name%.onnx}
    "$TESSERA" import "$model" -o "$dir/$name" -q && "$TESSERA" export "$dir/$name" -o "$dir/$name.onnx" -q || bad=1
    [ -z "$python" ] || "$python" "$SOURCE/tests/import/same_in_ort.py" "$model" "$dir/$name.onnx" \
        "$models/refs/$name"/test_data_set_* || bad=1
done
for model in bert-tiny gpt2-tiny resnet-tiny vae-tiny; do # built in: as operators of ONNX, with the numbers of the original
    "$TESSERA" export $model -o "$dir/m.onnx" -q && "$TESSERA" import $model -o "$dir/$model" -q || bad=1
    for form in $model "$dir/m.onnx" "$dir/$model"; do
        rm -rf "$dir/values"
        "$TESSERA" run "$form" --seed 3 --json -q >"$dir/said" || bad=1
        tr ',' '\n' <"$dir/said" | sed -n 's/.*"\(min\|max\|mean\)":[[:space:]]*\(-\{0,1\}[0-9]*\.[0-9]\{4\}\).*/\1 \2/p' >"$dir/sums"
        [ "$form" = $model ] && cp "$dir/sums" "$dir/first"
        [ -s "$dir/sums" ] && diff "$dir/first" "$dir/sums" || { echo "$form: other numbers than $model"; bad=1; }
    done
    [ -z "$python" ] || "$python" "$SOURCE/tests/import/built_in_ort.py" "$TESSERA" $model "$dir/m.onnx" "$dir/in" || bad=1
done
[ -n "$python" ] || echo "no Python with onnx and onnxruntime: nothing was asked of them"
exit $bad
