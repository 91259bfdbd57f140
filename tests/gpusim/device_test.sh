#!/bin/sh
# device_test.sh - the stand-in for the driver of CUDA: right kernels give the results of the CPU, and each mistake put
# into a kernel on purpose is found: accesses out of bounds or misaligned, reads of shared memory that nobody wrote,
# races without a barrier, barriers that not all reach, cp.async read before its wait.
# ctest: large
set -eu
sim=$BUILD/tests/gpusim
[ -x "$sim/gpusim-run" ] || { echo "skipped: no cuda.h or no x86-64 processor"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
headers=$(sed -n 's/^CUDA_HEADERS:PATH=//p' "$BUILD/CMakeCache.txt")
export SIMCUDA_SM=80
compile() { # SOURCE NAME [OPTION...]
    source=$1 name=$2
    shift 2
    "$sim/gpusim-compile" compute_80 "$SOURCE/tests/gpusim/check/$source.cu" "$dir/$name.ptx" -lineinfo -std=c++17 -default-device \
        "--include-path=$headers" "$@"
}
compile kernels kernels || { [ $? = 77 ] && echo "skipped: no NVRTC" && exit 77 || exit 1; }
compile bugs bugs
SIMCUDA_CHECK=all "$sim/gpusim-run" "$dir/kernels.ptx" "$dir/bugs.ptx"
SIMCUDA_CHECK=all SIMCUDA_ORDER=reverse SIMCUDA_APPROX=coarse "$sim/gpusim-run" "$dir/kernels.ptx" "$dir/bugs.ptx"
# Counts of a kernel that is known: of 3 blocks of 2 warps each warp reads 4 sectors, and writes one a lane; the last
# store has all lanes in one bank
SIMCUDA_COUNTS=$dir/counts.json "$sim/gpusim-run" "$dir/kernels.ptx" "$dir/bugs.ptx" >/dev/null
grep '"kernel":"counted","blocks":3,' "$dir/counts.json" | grep '"barriers":12,"reads":6,"read_sectors":24,"read_bytes":768,"writes":6,"write_sectors":192,"write_bytes":768,"shared":18,"passes":204,"conflicts":186,"bulk":0,"bulk_bytes":0}'
# The pipelined product with one mistake each: no wait, too lax a wait, no last wait, a barrier missing
for i in 1 2 3 4 5; do
    compile kernels mutant$i -DMUTANT=$i
    "$sim/gpusim-run" "$dir/mutant$i.ptx" "$dir/bugs.ptx" $i
done
