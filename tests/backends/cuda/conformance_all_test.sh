#!/bin/sh
# The ONNX project's cases of common operators on the stand-in for the driver with all its checks.
# ctest: long large timeout=7200
. "$SOURCE/tests/backends/cuda/stand_in.sh"
set -eu
. "$SOURCE/tests/import/conformance.sh"
cases cuda stored P0,P1 767
exit $bad
