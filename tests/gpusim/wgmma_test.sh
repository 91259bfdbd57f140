#!/bin/sh
# wgmma_test.sh - products of warpgroups on the stand-in: slices with every swizzle, either way round, give the product;
# each mistake put into the kernel on purpose is found.
# ctest: large
set -eu
. "$SOURCE/tests/gpusim/check/hopper.sh"
right rows128 rows64 rows32 plain turned
mutant 1 rows128 'which warp 0 wrote without fence.proxy.async behind it'
mutant 2 rows128 'read without a barrier after the write by thread'
mutant 3 rows128 'sums in registers that were written without wgmma.fence behind it'
mutant 4 rows128 'read of uninitialised shared memory'
mutant 5 rows128 'rows of 128 bytes are swizzled from multiples of 1024 on'
mutant 6 rows128 'out-of-bounds shared read of 16 bytes'
mutant 7 rows128 'read of a register that holds sums of wgmma.mma_async, which no wgmma.wait_group has waited for'
mutant 8 rows128 'which wgmma.mma_async reads, before wgmma.wait_group'
mutant 9 rows128 'warp 3 of a warpgroup did 0 of its 4 wgmma instructions'
mutant 10 rows128 'the warps of a warpgroup give wgmma different descriptors'
mutant 11 rows128 'read of a register that holds sums of wgmma.mma_async'
# Counted: 4 instructions in each of 4 warps, all products of 64 x 32 x 64
SIMCUDA_COUNTS=$dir/counts.json "$sim/gpusim-hopper" "$dir/0.ptx" rows128
grep '"tensor":16,"products":131072,' "$dir/counts.json"
