/* ruled.h - rows under loops of their own, all in one plan: results have the interpreter's bits. */
#ifndef TS_TEST_RULED_H
#define TS_TEST_RULED_H
#include "graph/base/base.h"

struct op;
typedef struct ruled {
    const char *row, *op, *dim, *loops; /* op and dim tell its kernel from others; op NULL: no rule; such come last */
    const struct op *then;              /* of the row's result, where that is in no table; op is "" */
} ruled;

/* With each case's loops for target, by a rule that some kernel must go by. */
void ruled_check(int n, const ruled *c, const char *target);
#endif
