#!/bin/sh
# libarchive_test.sh - the library that reads archives is opened for them alone, and where it is missing that is said.
# ctest: fast
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
: >libarchive.so.13
: >cases.tar
export LD_LIBRARY_PATH="$dir"
"$TESSERA" --version >/dev/null
code=0
"$TESSERA" onnx-test cases.tar 2>said || code=$?
[ $code = 8 ] && grep -q '^error: archives cannot be read here: .*libarchive.so.13: file too short' said &&
    grep -q 'unpack the archive and name its folder' said || { echo "exit code $code"; cat said; exit 1; }
