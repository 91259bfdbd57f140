#!/bin/sh
# Every program of emission_test.sh by the toolkit's compiler.
# ctest: long large O3
whole=1
. "$SOURCE/tests/backends/cuda/emission_test.sh"
