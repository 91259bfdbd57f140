#!/bin/sh
# Every problem of every operation, every row of exact sums, and a thousand random graphs under random schedules on an
# OpenCL device; cases_test.c, exact_test.c and fuzz_test.c have slices.
# ctest: long large timeout=7200
set -e
"$BUILD/tests/backends-opencl-cases-test" 1 0
"$BUILD/tests/backends-opencl-exact-test" 1 0
"$BUILD/tests/backends-opencl-fuzz-test" 1000 1
