#!/bin/sh
# ctest: large O3
# emission_test.sh - a plan as a program of its own for CUDA: it builds with the toolkit's compiler, runs on the stand-in
# for the driver without a finding, and gives the bits of a run here; an index that leads outside is said. Where that
# compiler has built products, boxes of tensors and a language model, NVRTC builds the kernels of the other programs, which
# takes a tenth of the time; emission_all_test.sh has them built by it, too.
set -eu
. "$SOURCE/tests/backends/emitted.sh"
sim=$BUILD/tests/gpusim
nvcc=${CUDA_HOME:-/usr/local/cuda}/bin/nvcc
[ -e "$sim/libcuda.so.1" ] || { echo "skipped: no stand-in for the driver of CUDA: it is built for x86-64"; exit 77; }
[ -x "$nvcc" ] || { echo "skipped: no nvcc"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export TESSERA_CUDA="driver=$sim/libcuda.so.1,ptx,${TESSERA_CUDA:-}" SIMCUDA_CHECK=all SIMCUDA_COPIES=copies

arch=compute_80 level=-O2
build() { # FOLDER
    make -s -C "$1" NVCC="$nvcc" NVCCFLAGS="-ptx -arch=$arch" LDFLAGS="-Wl,-rpath,$sim" \
        CFLAGS="$level -std=c11 -Wall -Wextra -Werror"
}
products_agree cuda

# On a described card nothing need be there to emit for it
TESSERA_CUDA=driver=/nowhere/libcuda.so.1,$TESSERA_CUDA "$TESSERA" emit products $products --target cuda --machine gpu:h100 -q -o h100
grep -q 'NVCCFLAGS ?= -cubin -arch=sm_90a' h100/Makefile
grep -q '__global__' h100/k_*.cu

# Slices that the device brings as boxes of tensors, whose maps the program makes
cat >boxes.json <<'JSON'
{"format": "graph/1", "opset": {"": 17}, "outputs": [{"name": "y"}],
 "inputs": [{"name": "a", "dtype": "bf16", "shape": [130, 96]}, {"name": "b", "dtype": "bf16", "shape": [96, 64]}],
 "nodes": [{"op": "MatMul", "in": ["a", "b"], "out": ["y"]}]}
JSON
echo '{"format": "tiling/1", "rules": [{"loops":
 "m/64@block n/64@block k/32+a*2+b*2 k/16@unroll m/16@warp m@mma n@mma k@mma"}]}' >boxes.tiling.json
python3 -c '
import numpy as np
for name, shape in ("a", (130, 96)), ("b", (96, 64)):
    whole = (np.arange(np.prod(shape)).reshape(shape) * 7 % 5 - 2).astype(np.float32)
    np.save(name + ".npy", (whole.view(np.uint32) >> 16).astype(np.uint16))'
export SIMCUDA_SM=90
"$TESSERA" run boxes.json --in a=a.npy --in b=b.npy --target cuda -s ./boxes.tiling.json -q --out boxed
"$TESSERA" emit boxes.json --target cuda -s ./boxes.tiling.json -q -o boxes
grep -q 'static const device_box box0\[\] = {{0, 0, 2, 64, 2, {96, 130}, {2, 192}, {32, 64}}, {1, 0, 2, 128, 2,' \
    boxes/program.c
arch=compute_90a
build boxes
(cd boxes && ./model ../a.npy ../b.npy)
cmp boxed/y.npy boxes/output0.npy
! (cd boxes && SIMCUDA_FAIL=cuTensorMapEncodeTiled=1 ./model ../a.npy ../b.npy) 2>said.txt
grep -q '^cuda:0 (simcuda .*): describing a tensor failed: CUDA_ERROR_INVALID_VALUE' said.txt
arch=compute_80
unset SIMCUDA_SM

language_agrees cuda
if [ -z "${whole:-}" ]; then
    cat >in_a_hurry <<SH
#!/bin/sh
# -ptx -arch=$arch -std=c++17 --fmad=false --ftz=true -w -o IMAGE KERNEL, as Makefiles call nvcc
exec $sim/gpusim-compile $arch "\$9" "\$8" "\$3" "\$4" "\$5" --disable-warnings
SH
    chmod +x in_a_hurry
    nvcc=$dir/in_a_hurry level=-O1
fi
loops_agree cuda
SIMCUDA_SM_COUNT=108
export SIMCUDA_SM_COUNT # of few, one would have much of the memory's rate
loops_agree cuda walked
unset SIMCUDA_SM_COUNT
extents_agree cuda
for folder in there text loops ranged; do
    grep -q '"pageable": *0[,}]' $folder/copies # all that is copied lies in pinned memory
done
launches_agree cuda
! (cd there && SIMCUDA_FAIL=cuGraphLaunch=719 ./model ../x.npy) 2>said.txt
grep -q '^cuda:0 (simcuda .*): launching the graph failed: CUDA_ERROR_LAUNCH_FAILED' said.txt
grep -q 'outside its axis' said.txt && exit 1 # that alone is the reason
mv there/k_*.image .
! (cd there && ./model ../x.npy) 2>said.txt
grep -q '\.image: cannot be read; run the program in the folder where make built it' said.txt
