#!/bin/sh
# bulk_test.sh - mbarriers and copies in bulk on the stand-in: boxes of a tensor, inside and partly outside of it, and
# plain pieces give the product; each mistake put into the kernel on purpose is found, a wait for ever is not waited for.
# ctest: large
set -eu
. "$SOURCE/tests/gpusim/check/hopper.sh"
right boxes outside pieces
mutant 21 boxes 'while a bulk copy to it is under way: no wait for its mbarrier'
mutant 22 boxes 'waits in phase 0 for 0 arrivals, and 16 bytes are to come'
mutant 23 boxes 'waits in phase 0 for 0 arrivals, and 16 bytes came beside those expected'
mutant 24 boxes 'behind whose making there is no fence'
mutant 25 boxes 'which came by a bulk copy, in a warp that has not waited for its mbarrier'
mutant 26 boxes 'a bulk copy of 8192 bytes to shared 0x40410: places are multiples of 1024, numbers of 16'
mutant 27 boxes 'which warp 0 makes without a barrier between'
mutant 28 boxes 'which wgmma.mma_async reads, before wgmma.wait_group'
mutant 29 boxes 'write without a barrier after a read by thread'
mutant 30 boxes 'while a bulk copy to it is under way: no wait for its mbarrier'
mutant 31 boxes 'a bulk copy goes to shared 0x40400, which warp 0 wrote without fence.proxy.async behind it'
# Counted: 64 x 64 and 64 x 32 elements of 2 bytes
SIMCUDA_COUNTS=$dir/counts.json "$sim/gpusim-hopper" "$dir/0.ptx" boxes
grep '"reads":0,"read_sectors":384,"read_bytes":12288,' "$dir/counts.json"
grep '"bulk":2,"bulk_bytes":12288}' "$dir/counts.json"
