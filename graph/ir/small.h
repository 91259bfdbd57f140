/* small.h - reals of 8 bits and fewer, a byte each in memory: sign, exponent, fraction. A power of two alone
 * (f8e8m0) has neither sign nor fraction. Formats are a constant table. */
#pragma once
#include "graph/ir/type.h"

typedef enum small_rule {
    SMALL_IEEE,   /* infinities and NaN as in the wider formats */
    SMALL_FN,     /* no infinity; NaN has all bits set */
    SMALL_FNUZ,   /* no infinity; NaN stands where -0 would */
    SMALL_FINITE, /* neither: what is too large is the largest, NaN is 0 */
    SMALL_POWER   /* 2^(bits - 127); 255 is NaN; rounds up, within its limits */
} small_rule;
typedef struct small {
    dtype dtype;
    int exponent, fraction, bias; /* bits of the first two */
    small_rule rule;
} small;

const small *small_of(dtype d); /* NULL for all others */
double small_load(const small *f, uint8_t bits);
uint8_t small_store(const small *f, double v); /* once rounded, to nearest, ties to even */
double small_highest(const small *f);          /* the largest finite value */
