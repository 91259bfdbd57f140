#!/bin/sh
# Cases of the ONNX project on an OpenCL device, each in a process of its own: a slice of rich operators and of some that
# the processor computes within the plan. conformance_all_test.sh has all of the common ones.
# ctest: large Og timeout=1800
set -eu
. "$SOURCE/tests/import/conformance.sh"
cases opencl stored P0,P1 5 'test_gr[ou]*'
cases opencl stored P0,P1 3 'test_gridsample_*_padding'
cases opencl stored P0,P1 2 'test_top_k_[nu]*'
exit $bad
