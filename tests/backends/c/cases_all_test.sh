#!/bin/sh
# All problems under all built-in schemas; cases_test has one in eight of them.
# ctest: long Og timeout=3600
exec "$BUILD/tests/backends-c-cases-test" 1 0
