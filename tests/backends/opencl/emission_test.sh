#!/bin/sh
# ctest: large
# emission_test.sh - a plan as a program of its own for OpenCL: it builds without a warning, needs no header of OpenCL,
# runs by the driver that is here, and gives the bits of a run here; what is missing when it starts is said.
# shellcheck disable=SC2086
set -eu
. "$SOURCE/tests/backends/emitted.sh"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
"$TESSERA" run products $products --seed 1 --target opencl -q --out try 2>why ||
    { echo "skipped: $(head -n 1 why)"; exit 77; }

level=2
build() { # FOLDER: the first as people do; what is in all programs is the same
    make -s -C "$1" CFLAGS="-O$level -std=c11 -Wall -Wextra -Werror"
    level=0
}
products_agree opencl
language_agrees opencl
loops_agree opencl
loops_agree opencl walked
extents_agree opencl
launches_agree opencl --machine "gpu:lanes processor:2 warp:16 shared:48KB(48KB)" # processors start kernels alone

# To memory of its own a device copies from what its driver gave; a processor runs as many threads as the plan is for
apart=$BUILD/tests/oclapart/liboclapart.so
if [ -e "$apart" ]; then
    "$TESSERA" emit products $products --threads 1 --target opencl -q -o one
    sed -i "s,\"libOpenCL.so.1\",\"$apart\"," one/opencl_abi.h
    build one
    (cd one && OCLAPART_UNITS=../units OCLAPART_COPIES=../copies ./model ../x.npy)
    cmp here/y.npy one/output0.npy
    [ "$(cat units)" = 1 ]
    grep -qx '{"to_device":3,"to_host":1,"pageable":0}' copies # two weights, an input; a result
fi

# What is missing
! (cd there && OCL_ICD_VENDORS=/nonexistent ./model ../x.npy) 2>said.txt
grep -qx 'OpenCL has no driver here' said.txt
grep -q 'outside its axis' said.txt && exit 1 # that alone is the reason
! (cd there && OCL_ICD_VENDORS=/nonexistent ./model) >said.txt 2>&1
grep -qx 'OpenCL has no driver here' said.txt
grep -q 'median' said.txt && exit 1 # nothing ran
: >libOpenCL.so.1
! (cd there && LD_LIBRARY_PATH="$dir" ./model ../x.npy) 2>said.txt
grep -q "no OpenCL here: $dir/libOpenCL.so.1: file too short" said.txt
mv there/kernels0.cl there/moved.cl
! (cd there && ./model ../x.npy) 2>said.txt
grep -q 'kernels0.cl: cannot be read; run the program in the folder where make built it' said.txt
echo 'this is no kernel' >there/kernels0.cl
! (cd there && ./model ../x.npy) 2>said.txt
grep -q 'building kernels0.cl: the driver answers with OpenCL error -11' said.txt

# On a described card nothing need be there to emit for it
OCL_ICD_VENDORS=/nonexistent "$TESSERA" emit products $products --target opencl --machine gpu:h100 -q -o h100
grep -q '__kernel' h100/kernels0.cl
