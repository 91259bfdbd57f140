/* random_row.h - what random schedules are tried on: rows of tests/backends/row.h, small enough for the interpreter,
 * with values that stay whole and so small that every order of summation is exact in their dtype. */
#ifndef TS_RANDOM_ROW_H
#define TS_RANDOM_ROW_H
#include "graph/base/base.h"

typedef struct dice { /* the same from the same seed, everywhere */
    uint64_t seed, at;
} dice;
int64_t roll(dice *d, int64_t n); /* 0...n-1 */

void random_row(dice *d, text *row); /* of 2 to 8 operations */
#endif
