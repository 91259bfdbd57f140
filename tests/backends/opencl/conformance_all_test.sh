#!/bin/sh
# The ONNX project's cases of common operators on an OpenCL device.
# ctest: long large timeout=7200
set -eu
. "$SOURCE/tests/import/conformance.sh"
cases opencl stored P0,P1 767
exit $bad
