#!/bin/sh
# The objectives of ADBench with the values of all of its files that are held here.
# ctest: long large
exec sh "$SOURCE/tests/models/adbench_test.sh" all
