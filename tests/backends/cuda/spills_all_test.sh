#!/bin/sh
# Every model of spills_test.c for both generations of cards.
# ctest: long large timeout=1800
exec "$BUILD/tests/backends-cuda-spills-test" all
