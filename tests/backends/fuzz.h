/* fuzz.h - random graphs under random schedules on one target. A schedule is refused with a reason, or computes what
 * the interpreter computes, to the bit: values are small integers. Graphs go through the compiler several at a time. */
#ifndef TS_TESTS_FUZZ_H
#define TS_TESTS_FUZZ_H
#include "tests/backends/random_loops.h"

typedef struct fuzz_of {
    const char *target, *machine; /* machine: as in ts_options */
    /* What this trial plans for, in m, with the options that say so to whoever runs it; NULL: it cannot be had */
    const target *(*settle)(dice *d, arena *mem, ts_options *o);
    void (*loops)(dice *d, const plan *p, const kernel *k, text *out);
} fuzz_of;
const target *fuzz_device(dice *d, arena *mem, ts_options *o); /* settle: the first device of the target */
int fuzz_run(const fuzz_of *of, long cases, uint64_t seed);    /* the test's exit status */
#endif
