#!/bin/sh
# The rest of the ONNX project's cases as compiled C; light networks by the interpreter; and the common operators, models and light networks with every
# extent free, and with all inputs but the first as constants, on both targets.
# ctest: long large timeout=7200
set -eu
. "$SOURCE/tests/import/conformance.sh"
cases c stored P2,P3,HIST,SEQOPT,LOWBIT,PREVIEW,ML,STRING,IMAGE,RANDOM 1827
cases interp stored LIGHT 5
for variant in symbolic initializers; do
    for target in interp c; do
        cases $target $variant P0,P1,MODEL,LIGHT 879
    done
done
exit $bad
