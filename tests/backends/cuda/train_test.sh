#!/bin/sh
# Training on the stand-in for the driver (tests/train/device.sh says what): a slice; train_all_test.sh has all.
# ctest: large timeout=1800 Og
. "$SOURCE/tests/backends/cuda/stand_in.sh"
target=cuda part=slice
. "$SOURCE/tests/train/device.sh"
