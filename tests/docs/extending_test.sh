#!/bin/sh
# The program that docs/extending.md shows builds against the public header and the library, and prints what the page says.
set -eu
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"
awk '/^```c$/ { out = "polar.c"; next } /^```text$/ { out = "wanted"; next } /^```/ { out = "" } out { print >out }' \
    "$SOURCE/docs/extending.md"
[ -s polar.c ] && [ -s wanted ] || { echo "extending.md shows no program"; exit 1; }
sanitizers=$(grep -q 'TESSERA_SANITIZE:BOOL=ON' "$BUILD/CMakeCache.txt" && echo -fsanitize=address,undefined || true)
cc -std=c11 -Wall -Wextra -Wpedantic -Werror $sanitizers polar.c -I"$SOURCE/include" "$BUILD/libtessera.a" \
    $(pkg-config --libs libprotobuf-c libcjson hwloc libcrypto libutf8proc libpcre2-8) -lm -ldl -pthread -o polar
./polar >got || { echo "the program failed"; cat got; exit 1; }
cmp -s got wanted || { echo "extending.md says:"; cat wanted; echo "the program prints:"; cat got; exit 1; }
