#!/bin/sh
# Models of scikit-learn, LightGBM and XGBoost as their exporters write them, against ONNX Runtime: pipelines.py.
# ctest: large
set -eu
python=
for try in ${PYTHON:-} python3; do
    "$try" -c 'import onnxruntime, skl2onnx, sklearn' 2>/dev/null && python=$try && break
done
[ -n "$python" ] || { echo "no Python with onnxruntime, skl2onnx and scikit-learn"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
"$python" "$SOURCE/tests/import/pipelines.py" "$TESSERA" "$work"
