#!/bin/sh
# Training on the stand-in for the driver (tests/train/device.sh says what): every optimizer, every precision, the built-in models.
# ctest: long large timeout=7200
. "$SOURCE/tests/backends/cuda/stand_in.sh"
target=cuda part=all
. "$SOURCE/tests/train/device.sh"
