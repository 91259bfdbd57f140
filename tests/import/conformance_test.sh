#!/bin/sh
# The ONNX project's own cases: the common operators and models on both targets, light networks as compiled C and one of
# them by the interpreter, and all other tiers by it. What fails must be listed in conformance.failing; what is listed
# there must fail. conformance_all_test.sh has the rest.
# ctest: large Og timeout=1500
set -eu
. "$SOURCE/tests/import/conformance.sh"
cases interp stored P0,P1,MODEL 874
cases interp stored LIGHT 1 'light_squeezenet'
cases c stored P0,P1,MODEL 874
cases interp stored P2,P3,HIST,SEQOPT,LOWBIT,PREVIEW,ML,STRING,IMAGE,RANDOM 1827
TESSERA_CC=$BUILD/tests/cc-O1 # these compute for long
cases c stored LIGHT 5
exit $bad
