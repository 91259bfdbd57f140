#!/bin/sh
# The team of threads and its test under the thread sanitizer.
# ctest: large
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc=${CC:-gcc}
echo 'int main(void) { return 0; }' >"$work/none.c"
{ "$cc" -fsanitize=thread "$work/none.c" -o "$work/none" && setarch -R "$work/none"; } 2>/dev/null ||
    { echo "skipped: no thread sanitizer here"; exit 77; }
cd "$SOURCE" || exit 1
# Unquoted on purpose: a list.
"$cc" -std=c11 -D_GNU_SOURCE -g -O1 -fsanitize=thread -I. -Iinclude -I"$BUILD/generated" tests/backends/c/team_test.c \
    backends/c/runtime/team.c backends/c/runtime/walk.c backends/c/team.c "$BUILD/libhelpers.a" "$BUILD/libtessera.a" \
    $(pkg-config --libs libprotobuf-c libcjson hwloc libcrypto libutf8proc libpcre2-8) -lm -lpthread -ldl -o "$work/team" &&
    setarch -R "$work/team"
