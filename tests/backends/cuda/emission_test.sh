#!/bin/sh
# ctest: large
# emission_test.sh - a plan as a program of its own for CUDA: it builds with the toolkit's compiler, runs on the stand-in
# for the driver without a finding, and gives the bits of a run here; an index that leads outside is said.
set -eu
. "$SOURCE/tests/backends/emitted.sh"
sim=$BUILD/tests/gpusim
nvcc=${CUDA_HOME:-/usr/local/cuda}/bin/nvcc
[ -e "$sim/libcuda.so.1" ] || { echo "skipped: no stand-in for the driver of CUDA: it is built for x86-64"; exit 77; }
[ -x "$nvcc" ] || { echo "skipped: no nvcc"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export TESSERA_CUDA_DRIVER="$sim/libcuda.so.1" TESSERA_CUDA_PTX=1 SIMCUDA_CHECK=all

build() { # FOLDER
    make -s -C "$1" NVCCFLAGS="-ptx -arch=compute_80" LDFLAGS="-L$sim -Wl,-rpath,$sim" \
        CFLAGS="-O2 -std=c11 -Wall -Wextra -Werror -I${CUDA_HOME:-/usr/local/cuda}/include"
}
products_agree cuda

# On a described card nothing need be there to emit for it
TESSERA_CUDA_DRIVER=/nowhere/libcuda.so.1 "$TESSERA" emit products $products --target cuda --machine gpu:h100 -q -o h100
grep -q 'NVCCFLAGS ?= -cubin -arch=sm_90a' h100/Makefile
grep -q '__global__' h100/k_*.cu

language_agrees cuda
! (cd there && SIMCUDA_FAIL=cuGraphLaunch=719 ./model ../x.npy) 2>said.txt
grep -qx 'launching the kernels failed: CUDA_ERROR_LAUNCH_FAILED' said.txt
grep -q 'outside its axis' said.txt && exit 1 # that alone is the reason
mv there/k_*.image .
! (cd there && ./model ../x.npy) 2>said.txt
grep -q '\.image: cannot be read; run the program in the folder where make built it' said.txt
