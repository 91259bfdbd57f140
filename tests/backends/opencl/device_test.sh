#!/bin/sh
# What is missing of OpenCL is one error each, with its remedy: the loader, a driver, the device; a driver that refuses
# the text; a card that is described and not here. Plans and lists of targets need none of them.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
with() { # with VARIABLE=VALUE CODE TEXT ARGUMENT...
    export "$1"
    name=${1%%=*}
    shift
    expect "$@"
    unset "$name"
}
set_run="run bert-tiny --dim seq=4 --seed 1 --target opencl --cache-dir none"
: >libOpenCL.so.1
# shellcheck disable=SC2086
{
    with OCL_ICD_VENDORS=/nonexistent 9 "OpenCL has no driver here" $set_run
    with LD_LIBRARY_PATH="$dir" 9 "no OpenCL here: $dir/libOpenCL.so.1: file too short" $set_run
    with TESSERA_OPENCL=-no-such-option 5 "Invalid build option: -no-such-option" $set_run
    with "TESSERA_OPENCL=-no-such-option loader=libOpenCL.so.1" 5 "Invalid build option: -no-such-option" $set_run
    with "TESSERA_OPENCL=loader=$dir/libOpenCL.so.1 -DX=1" 9 "no OpenCL here: $dir/libOpenCL.so.1: file too short" $set_run
    expect 9 "there is no OpenCL device 77" $set_run --machine opencl:77
    expect 9 "kernels for wide may be too large: its groups have up to 1073741824 bytes of local memory" $set_run \
        --machine "gpu:wide processor:2 shared:1GB(1GB)"
    expect 2 "machine \"opencl:x\" is no device of OpenCL" $set_run --machine opencl:x
    expect 3 "machine: NAME:COUNT expected" $set_run --machine cpu
}
# reals of 8 bytes with weights of 4: what is multiplied and added is of one type
expect 0 "good" check-grad products --dim m=4 --dim k=4 --dim n=4 --dim layers=1 --target opencl
with OCL_ICD_VENDORS=/nonexistent 0 "h100" explain bert-tiny --target opencl --machine gpu:h100
with OCL_ICD_VENDORS=/nonexistent 0 "OpenCL has no driver here" doctor
# a processor: groups of one worker, who waits for nobody, with tiles of vectors that compilers make
checked=$((checked + 1))
OCL_ICD_VENDORS=/nonexistent "$TESSERA" emit products --dim m=128 --dim k=768 --dim n=768 --dim layers=1 -q \
    --target opencl --machine "core:8 isa:avx512" -o processor
grep -q 'reqd_work_group_size(1, 1, 1)' processor/kernels0.cl && ! grep -q 'barrier(\|__local' processor/kernels0.cl &&
    grep -q 'float acc\[6\]\[16\]' processor/kernels0.cl || wrong "a processor is given groups of lanes"
"$TESSERA" explain products --target opencl --machine "core:8 isa:avx512" 2>&1 | grep -q '@core' ||
    wrong "loops for a processor are not spread over its cores"
checked=$((checked + 1))
"$TESSERA" explain bert-tiny --dim seq=4 --target opencl 2>/dev/null | grep 'occupancy 0 %' &&
    wrong "a device that does not state its lanes is said to run none"
# A processor runs as many threads as are asked for; it cannot run more than it has. It is given up, and a part of it with
# it, when none of its driver's workers holds its queue.
# shellcheck disable=SC2086
expect 2 "1023 threads, " $set_run --threads 1023
apart=$BUILD/tests/oclapart/liboclapart.so
if [ -e "$apart" ]; then
    for threads in 1 2; do
        checked=$((checked + 1))
        TESSERA_OPENCL="loader=$apart ${TESSERA_OPENCL:-}" OCLAPART_UNITS=$dir/units OCLAPART_HELD=$dir/held "$TESSERA" run products --dim m=37 --dim k=24 --dim n=50 --dim layers=2 --seed 1 \
            --target opencl --cache-dir none --threads $threads -q -o threads$threads >said 2>&1 || { grep -q ' has 1$' said && continue; }
        [ "$(cat units)" = $threads ] || wrong "--threads $threads: $(cat units) units run"
        [ ! -s held ] || wrong "--threads $threads: a queue was given up that was still held"
    done
    [ ! -d threads2 ] || diff -r threads1 threads2 || wrong "other results by another number of threads"
fi
finish
