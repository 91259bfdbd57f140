#!/bin/sh
# Every problem of every operation and every row of exact sums on the stand-in for the driver; operations_test.c and
# exact_test.c have slices.
# ctest: long large timeout=3600
set -e
"$BUILD/tests/backends-cuda-operations-test" 1 0
"$BUILD/tests/backends-cuda-exact-test" 1 0
