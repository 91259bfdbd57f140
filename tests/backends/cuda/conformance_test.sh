#!/bin/sh
# Cases of the ONNX project on the stand-in for the driver with all its checks: a slice; conformance_all_test.sh has those
# of all common operators.
# ctest: large timeout=1800
. "$SOURCE/tests/backends/cuda/stand_in.sh"
set -eu
. "$SOURCE/tests/import/conformance.sh"
cases cuda stored P0,P1 108 'test_[gqxwnu]*'
exit $bad
