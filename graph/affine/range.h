/* range.h - intervals of whole numbers, for subscripts and addresses; what overflows is not known. Plain values.
 * The room:  range (whole numbers), interval (reals, tables)     linear (expressions), index (loop variables) */
#pragma once
#include "graph/base/base.h"

typedef struct range { /* inclusive */
    int64_t low, high; /* low <= high */
    bool known;        /* false: it may be any number, as {0} is; so is what comes of such a range */
} range;
range range_of(int64_t low, int64_t high);
/* Of any a and b within theirs: a + b, a * by, a * b */
range range_sum(range a, range b);
range range_times(range a, int64_t by);
range range_product(range a, range b);
range range_floor(range a, int64_t by); /* of a / by; by > 0 */
range range_rest(range a, int64_t by);  /* a - by * floor(a / by) */
range range_least(range a, range b);    /* the smaller of both */
range range_most(range a, range b);     /* the larger of both */
range range_either(range a, range b);   /* one of both */
range range_size(range a);              /* without its sign */
