#!/bin/sh
# Training on an OpenCL device (tests/train/device.sh says what): every optimizer, every precision, the built-in models.
# ctest: long large timeout=3600
target=opencl part=all
. "$SOURCE/tests/train/device.sh"
