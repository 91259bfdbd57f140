#!/bin/sh
# Cases of the ONNX project on an OpenCL device, each in a process of its own: a slice of rich operators and of some that
# the processor computes within the plan. conformance_all_test.sh has all of the common ones.
# ctest: large Og timeout=1800
set -eu
. "$SOURCE/tests/import/conformance.sh"
cases opencl stored P0,P1 19 'test_gr[iou]*'
cases opencl stored P0,P1 6 'test_top_k*'
exit $bad
