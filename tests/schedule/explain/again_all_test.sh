#!/bin/sh
# The plans of every built-in network made again.
# ctest: long large
exec sh "$SOURCE/tests/schedule/explain/again_test.sh" all
