#!/bin/sh
# All loops inside of kernels of an OpenCL device; inside_test has one in eight of them.
# ctest: long Og unkept timeout=1800
exec "$BUILD/tests/backends-opencl-inside-test" 1
