#!/bin/sh
# Models of scikit-learn, LightGBM and XGBoost as their exporters write them, against ONNX Runtime: pipelines.py.
# ctest: large
set -eu
. "$SOURCE/tests/import/python.sh"
python_needed "onnxruntime, skl2onnx, sklearn"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
"$python" "$SOURCE/tests/import/pipelines.py" "$TESSERA" "$work"
