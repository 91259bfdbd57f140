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
    expect 9 "there is no OpenCL device 77" $set_run --machine opencl:77
    expect 9 "the plan is for h100, which is described and not here" $set_run --machine gpu:h100
    expect 2 "machine \"cpu\" is no graphics processor" $set_run --machine cpu
}
# reals of 8 bytes with weights of 4: what is multiplied and added is of one type
expect 0 "good" check-grad products --dim m=4 --dim k=4 --dim n=4 --dim layers=1 --target opencl
with OCL_ICD_VENDORS=/nonexistent 0 "h100" explain bert-tiny --target opencl --machine gpu:h100
with OCL_ICD_VENDORS=/nonexistent 0 "OpenCL has no driver here" doctor
checked=$((checked + 1))
"$TESSERA" explain bert-tiny --dim seq=4 --target opencl 2>/dev/null | grep 'occupancy 0 %' &&
    wrong "a device that does not state its lanes is said to run none"
finish
