/* real.h - the error of functions of reals in what the back end c makes of them, in units in the last place, on every
 * instruction set of this processor. */
#ifndef TS_TESTS_REAL_H
#define TS_TESTS_REAL_H
#include "graph/base/base.h"

/* Of f32: every stride-th number there is, from `first` on; of f64: `count` times 64 Ki numbers drawn by exponent, as
 * many with those exponents between which the function is neither its argument nor a constant. Both begin with those
 * that are apart: zeros, ones, infinities, not-a-numbers, ends and multiples of pi. pow takes pairs: `count` times. */
typedef struct real_sample {
    uint64_t first, stride;
    int count;
} real_sample;
void real_check(const real_sample *s);
#endif
