#!/bin/sh
# Training on an OpenCL device (tests/train/device.sh says what): a slice; train_all_test.sh has all.
# ctest: large timeout=1800
export TESSERA_OPENCL=-cl-opt-disable # many kernels, each run a few times
target=opencl part=slice
. "$SOURCE/tests/train/device.sh"
