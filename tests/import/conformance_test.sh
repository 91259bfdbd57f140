#!/bin/sh
# The ONNX project's own cases: the common operators, models and light networks on both targets, and all other tiers by
# the interpreter. What fails must be listed in conformance.failing; what is listed there must fail.
# ctest: large Og timeout=1500
set -eu
. "$SOURCE/tests/import/conformance.sh"
cases interp stored P0,P1,MODEL,LIGHT 879
cases c stored P0,P1,MODEL 874
cases interp stored P2,P3,HIST,SEQOPT,LOWBIT,PREVIEW,ML,STRING,IMAGE,RANDOM 1827
unset TESSERA_CC # these compute for long
cases c stored LIGHT 5
exit $bad
