#!/bin/sh
# All tests of CUDA once more on the stand-in for the driver, where blocks, warps and nodes of graphs that nothing orders
# run in reverse, and functions that cards compute in a few bits less are as coarse as theirs: no finding, and results
# within the same bounds.
# ctest: long large timeout=10800
set -u
export SIMCUDA_CHECK=all SIMCUDA_ORDER=reverse SIMCUDA_APPROX=coarse
bad=0 ran=0
for name in device plan operations exact models models_all; do
    all=
    [ $name != operations ] || all="1 0"
    # shellcheck disable=SC2086
    "$BUILD/tests/backends-cuda-$name-test" $all >said 2>&1
    case $? in
        0) ran=$((ran + 1)) ;;
        77) cat said && exit 77 ;;
        *) echo "$name:" && tail -40 said && bad=1 ;;
    esac
done
for name in train train_all conformance_all; do
    sh "$SOURCE/tests/backends/cuda/${name}_test.sh" >said 2>&1
    case $? in
        0) ran=$((ran + 1)) ;;
        77) cat said ;;
        *) echo "$name:" && tail -40 said && bad=1 ;;
    esac
done
rm -f said
echo "$ran tests in reverse"
[ "$ran" -gt 5 ] && [ $bad = 0 ]
