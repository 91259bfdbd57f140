/* fuzz.h - what the targets share. A target is tests/fuzz/NAME_test.c with LLVMFuzzerTestOneInput and no main: the
 * suite links it with replay.c, which runs tests/fuzz/corpus/NAME and damaged copies of it; ./dev fuzz NAME links it
 * with libFuzzer. Whatever the bytes, a target ends in a value or in one message. */
#ifndef TS_TEST_FUZZ_H
#define TS_TEST_FUZZ_H
#include "graph/base/base.h"

/* Plans are for this one, whatever the host: the same findings everywhere, and no topology is read for each. */
#define FUZZ_MACHINE "l3:1(32MB) core:2 isa:avx512"

/* Loops, constants and results are refused beyond these: what a large one does, a small one does too. Two arguments. */
#define FUZZ_LIMITS 3, ((const char *const[]){"steps=256", "folded=64K", "elements=64K"})

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* The bytes as a file, until the next call: a path to it, which ends the process when there can be none. */
const char *fuzz_file(const uint8_t *data, size_t size);
/* A refusal has a code and a text; anything else is a bug. */
void fuzz_refused(const err *e);
#endif
