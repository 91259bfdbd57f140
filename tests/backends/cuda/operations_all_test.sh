#!/bin/sh
# Every problem of every operation on the stand-in for the driver; operations_test.c has a slice.
# ctest: long large timeout=3600
exec "$BUILD/tests/backends-cuda-operations-test" 1 0
