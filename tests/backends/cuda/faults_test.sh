#!/bin/sh
# ctest: drivers O3
# faults_test.sh - devices that fail: each is a clear error with exit code 9 that names the cause, and none hangs.
set -eu
sim=$BUILD/tests/gpusim/libcuda.so.1
[ -e "$sim" ] || { echo "skipped: no stand-in for the driver of CUDA: it is built for x86-64"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export TESSERA_CUDA="driver=$sim,ptx,${TESSERA_CUDA:-}" SIMCUDA_CHECK=all SIMCUDA_VERBOSE=0
cd "$dir"
run() { timeout 120 "$TESSERA" run products --dim m=16 --dim k=24 --dim n=16 --dim layers=2 --seed 1 --target cuda -q --out out; }
rm -rf out
run >said 2>&1 || { grep -q 'no NVRTC' said && echo "skipped: no NVRTC" && exit 77; cat said; exit 1; }

# fails SENTENCE SETTING...: under these settings it ends with 9 and that sentence
fails() {
    want=$1
    shift
    rm -rf out
    status=0
    (export "$@"; run) >said 2>&1 || status=$?
    [ $status = 9 ] || { echo "$*: exit code $status"; cat said; exit 1; }
    grep -qF -- "$want" said || { echo "$*: not said: $want"; cat said; exit 1; }
}
name='cuda:0 (simcuda (PTX on the CPU, sm_80))'
fails 'there is no driver of CUDA: /nowhere/libcuda.so.1: cannot open shared object file' \
    "TESSERA_CUDA=driver=/nowhere/libcuda.so.1,$TESSERA_CUDA"
fails 'the driver of CUDA is too old: it serves version 11.8, needed is 12.0' SIMCUDA_VERSION=11080
fails 'the driver of CUDA finds no device' SIMCUDA_DEVICES=0
fails 'the driver of CUDA finds no device' SIMCUDA_FAIL=cuInit=100
fails 'cuda:0: the start of the driver failed: CUDA_ERROR_SYSTEM_NOT_READY' SIMCUDA_FAIL=cuInit=802
fails "$name is out of memory: the weights would take" SIMCUDA_FAIL=cuMemAlloc=2
fails "$name is out of memory: the values would take" SIMCUDA_FAIL=cuMemAlloc:3=2
fails "$name is out of memory: the weights would take" SIMCUDA_MEMORY=1024
fails "$name: taking pinned memory of the host failed: CUDA_ERROR_OUT_OF_MEMORY, out of memory (2)" \
    SIMCUDA_FAIL=cuMemHostAlloc=2
fails "$name: opening the device failed: CUDA_ERROR_INVALID_DEVICE" SIMCUDA_FAIL=cuDevicePrimaryCtxRetain:2=101
fails "$name: loading a kernel failed: CUDA_ERROR_INVALID_PTX" SIMCUDA_FAIL=cuModuleLoad=218
fails "$name: building the graph failed: CUDA_ERROR_NOT_SUPPORTED" SIMCUDA_FAIL=cuGraphInstantiateWithFlags=801
fails "$name: launching the graph failed: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES" SIMCUDA_FAIL=cuGraphLaunch=701
# Lost in the middle: at a copy, at the launch, at the wait
fails "$name: a copy of a weight failed: CUDA_ERROR_LAUNCH_FAILED" SIMCUDA_FAIL=cuMemcpy:2=719
fails "$name: a copy to the device failed: CUDA_ERROR_LAUNCH_FAILED" SIMCUDA_FAIL=cuMemcpy:3=719
fails "$name: launching the graph failed: CUDA_ERROR_LAUNCH_FAILED" SIMCUDA_FAIL=cuGraphLaunch=719
fails "$name: a run failed: CUDA_ERROR_LAUNCH_FAILED, unspecified launch failure (719)" \
    SIMCUDA_FAIL=cuStreamSynchronize=719
fails "$name: a copy of a result failed: CUDA_ERROR_LAUNCH_FAILED" SIMCUDA_FAIL=cuEventSynchronize:2=719
fails 'there is no NVRTC, the compiler of CUDA: /nowhere/libnvrtc.so: cannot open shared object file' \
    "TESSERA_CUDA=nvrtc=/nowhere/libnvrtc.so,$TESSERA_CUDA"
fails "NVRTC, the compiler of CUDA, has no function nvrtcVersion: it is too old" "TESSERA_CUDA=nvrtc=$sim,$TESSERA_CUDA"
# A word of the setting that means nothing is a mistake in what was asked for, not the device's
status=0
(export TESSERA_CUDA=ptx,drivers=x; run) >said 2>&1 || status=$?
[ $status = 2 ] && grep -qF 'TESSERA_CUDA: "drivers=x" is none of driver=PATH, nvrtc=PATH, nccl=PATH, ptx, -OPTION (at most 8)' said || { cat said; exit 1; }
# An option that this NVRTC does not know, of kernels that are kept without it
fails 'NVRTC refuses kernel k_' "TESSERA_CUDA=$TESSERA_CUDA,--of-another-version"
grep -qx '    nvrtc: error: unrecognized option --of-another-version found' said || { echo "no option is named"; cat said; exit 1; }
TESSERA_CUDA=--of-another-version "$TESSERA" explain products --dim layers=1 --target cuda --machine gpu:h100 >said
grep -q '^assembler: none, .*: NVRTC does not assemble kernel k_.*: nvrtc: error: unrecognized option --of-another-version' said ||
    { echo "the assembler is not asked with the option"; cat said; exit 1; }
(export TESSERA_CUDA="$TESSERA_CUDA,--dopt=on"; run) >said 2>&1 || { cat said; exit 1; }
# A compiler that fails: at each of its calls, with what it said of the kernel
nvrtc() { # CALL SENTENCE
    fails "$2" "TESSERA_CUDA=nvrtc=$BUILD/tests/gpusim/libnvrtc-fails.so,$TESSERA_CUDA" NVRTC_FAILS="$1" XDG_CACHE_HOME="$PWD/empty"
}
nvrtc nvrtcVersion 'NVRTC, the compiler of CUDA, does not say its version'
nvrtc nvrtcGetNumSupportedArchs 'NVRTC, the compiler of CUDA, does not say which devices it knows'
nvrtc nvrtcCreateProgram ': NVRTC_ERROR_TOLD_TO_FAIL'
nvrtc nvrtcCompileProgram 'NVRTC refuses kernel k_'
grep -qx '    kernel.cu(7): error: told to fail' said || { echo "the compiler's log is not told"; cat said; exit 1; }
nvrtc nvrtcGetProgramLog 'NVRTC refuses kernel k_'
nvrtc nvrtcGetPTX 'NVRTC refuses kernel k_'
nvrtc minimal 'loading a kernel failed' # one that lacks the option is not told it
# Kernels that are too large: as the driver says of one, as a plan for a larger device has them, as a launch shows
fails 'is too large: groups have 256 lanes, with its' SIMCUDA_LANES=255
grep -qF 'use smaller steps of its loops over lanes, or a smaller register tile' said
fails 'adding a kernel to the graph failed: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES' SIMCUDA_FAIL=cuGraphAddKernelNode=701
run() { timeout 120 "$TESSERA" run products --dim m=16 --dim k=24 --dim n=16 --seed 1 --target cuda -q --out out --machine "$machine"; }
machine=gpu:h100
fails 'kernels for h100 may be too large: its groups have up to 232448 bytes of shared memory, those of simcuda' SIMCUDA_SM=80
# A driver without maps of tensors: lanes copy then; plans for a card that has them say what is missing
echo '{"format": "graph/1", "opset": {"": 17}, "outputs": [{"name": "y"}], "inputs": [
 {"name": "a", "dtype": "bf16", "shape": [256, 128]}, {"name": "b", "dtype": "bf16", "shape": [128, 256]}],
 "nodes": [{"op": "MatMul", "in": ["a", "b"], "out": ["y"]}]}' >boxes.json
LC_ALL=C sed s/cuTensorMapEncodeTiled/cuTensorMapEncodeNever/g "$sim" >old.so
echo '{"format": "tiling/1", "rules": [{"loops":
 "m/64@block n/64@block k/32+a*2+b*2 k/16@unroll m/16@warp m@mma n@mma k@mma"}]}' >boxes.tiling.json
boxes() { timeout 120 "$TESSERA" "$@" boxes.json --target cuda -s ./boxes.tiling.json; }
export SIMCUDA_SM=90
boxes explain >said
grep -qx '    matmul: the device brings slices of a, b' said
TESSERA_CUDA=driver=$PWD/old.so,$TESSERA_CUDA boxes explain >said
grep -q 'lanes copy slices of a: the driver has no function cuTensorMapEncodeTiled' said
run() { boxes run --seed 1 -q --out out; }
TESSERA_CUDA=driver=$PWD/old.so,$TESSERA_CUDA run >/dev/null
fails 'describing a tensor failed: CUDA_ERROR_INVALID_VALUE' SIMCUDA_FAIL=cuTensorMapEncodeTiled=1
run() { boxes run --seed 1 -q --out out --machine gpu:h100; }
run >/dev/null
fails 'cuda:0 (simcuda (PTX on the CPU, sm_90)): slices come as boxes of tensors, and the driver has no function '\
'cuTensorMapEncodeTiled' "TESSERA_CUDA=driver=$PWD/old.so,$TESSERA_CUDA"
unset SIMCUDA_SM
# A machine that is only described plans and explains, without any driver
TESSERA_CUDA=driver=/nowhere/libcuda.so.1,$TESSERA_CUDA "$TESSERA" explain products --target cuda --machine gpu:h100 >said
grep -q 'target cuda  h100' said
# A device that is here is a machine, too; another word is none
"$TESSERA" explain products --target cuda --machine cuda:0 >said
grep -q 'target cuda  simcuda' said
refused() { # SENTENCE MACHINE
    ! "$TESSERA" explain products --target cuda --machine "$2" >said 2>&1 || { echo "$2 is taken"; exit 1; }
    grep -qxF -- "error: $1" said || { echo "$2: not said: $1"; cat said; exit 1; }
}
refused 'there is no device cuda:7' cuda:7
refused 'machine "cuda:x" is no graphics processor' cuda:x
refused 'machine "core:8" is no graphics processor' core:8
