#!/bin/sh
# ctest: large
# emission_test.sh - loops in a program of its own: it builds without a warning as plain C11 and gives the bits of a run
# here; each loop is one kernel, with what it does written above it and above what it calls.
set -eu
. "$SOURCE/tests/backends/emitted.sh"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

build() { # FOLDER
    make -s -C "$1" CPPFLAGS="-std=c11 -Wall -Wextra -Werror"
}
loops_agree c

[ "$(cat loops/k_*.c | grep -c 'for (long trip = 0; trip < [0-9]*; trip++) {')" = 2 ]
[ "$(cat loops/k_*.c | grep -cE '^ \*   (50 trips|40 trips at most, as one may end it), each of k_')" = 2 ]
! grep -q 'loop_row' loops/program.c
for f in $(grep -l 'each of k_' loops/k_*.c); do # each function that is called has its own head
    [ "$(grep -c '^static void k_' "$f")" -ge 1 ]
    [ "$(grep -c ' operations on reals, ' "$f")" = $((1 + $(grep -c '^static void k_' "$f"))) ]
done
[ "$("$TESSERA" explain loops.json --target c --json | grep -o '"inside":[[:space:]]*true' | wc -l)" = 2 ]
