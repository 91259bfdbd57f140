#!/bin/sh
# How much text a network of images comes to, which is what compilers take their time over: distinct kernels, tile
# functions, statements that multiply and add, pointers that tiles take.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
expect 0 'wrote code' emit resnet-18 --machine 'l3:1(32MB) l2:2(512KB) l1d:2(32KB) core:2 isa:avx2' -o code
cat code/k_*.c >all.c

# most WHAT NUMBER LIMIT
most() {
    checked=$((checked + 1))
    [ "$2" -le "$3" ] || wrong "$1: $2, expected $3 at most"
}
most 'distinct kernels' "$(ls code/k_*.c | wc -l)" 25
most 'tile functions' "$(grep -c '^static void tile' all.c)" 60
most "bodies of sums" "$(grep '_fma(' all.c | grep -vc LANES)" 47
# values that are read beside one another: Winograd's 16 of an image are one pointer, and so are those of its products
most 'pointers of a tile' "$(sed -n 's/^static void tile[0-9]*(//p' all.c | sed 's/[^*]//g' | awk '{print length}' | sort -n | tail -1)" 8
# the program's calls are tables, whatever their number: run, program
most 'functions of the program' "$(grep -c '^[a-z].*)$' code/program.c)" 2
finish
