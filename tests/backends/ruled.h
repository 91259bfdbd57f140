/* ruled.h - rows under loops of their own, all in one plan: results have the interpreter's bits. */
#ifndef TS_TEST_RULED_H
#define TS_TEST_RULED_H
#include "graph/base/base.h"

typedef struct ruled {
    const char *row, *op, *dim, *loops; /* op and dim tell its kernel from others; op NULL: no rule; such come last */
} ruled;

/* With each case's loops for target, by a rule that some kernel must go by. */
void ruled_check(int n, const ruled *c, const char *target);
#endif
