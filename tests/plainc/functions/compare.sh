#!/bin/sh
# compare.sh [BUILD] - times of scalar functions and their gradients, ours and plain C's at the same flags. BUILD: where
# the library is (default: build). Needs cc, or $CC.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
build=$(cd "${1:-$root/build}" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
${CC:-cc} -std=gnu11 -O3 -march=native -ffp-contract=off -fno-math-errno -fno-trapping-math -I"$root" -I"$root/include" \
    "$here/functions.c" "$root/graph/base/clock.c" -o "$folder/functions" -L"$build" -Wl,-rpath,"$build" -ltessera -lm
"$folder/functions"
