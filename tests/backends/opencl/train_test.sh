#!/bin/sh
# Training on an OpenCL device (tests/train/device.sh says what): a slice; train_all_test.sh has all.
# ctest: large timeout=1800 Og
target=opencl part=slice
. "$SOURCE/tests/train/device.sh"
