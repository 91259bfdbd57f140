/* called.h - one call of an operation on vectors, held against numbers that are known. Rows are only read. */
#ifndef TEST_CALLED_H
#define TEST_CALLED_H
#include "tessera.h"

enum { CALLED = 4 };

typedef struct called {
    const char *call;
    ts_dtype dtype; /* of a and b */
    double a[CALLED], b[CALLED], want[CALLED];
} called;

/* Zeros of either sign are apart, NaN is NaN. n_in: 1 or 2; known: operands are constants, not inputs. */
void called_check(const called *r, int n_in, const char *target, bool known);
#endif
