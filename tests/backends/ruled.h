/* ruled.h - rows under loops of their own, all in one plan: results have the interpreter's bits. Cases are only read;
 * graphs and plans live for the check. */
#ifndef TS_TEST_RULED_H
#define TS_TEST_RULED_H
#include "graph/base/base.h"
#include "tessera.h"

struct op;
typedef struct ruled {
    const char *row, *op, *dim, *loops; /* op and dim tell its kernel from others; op NULL: no rule; such come last */
} ruled;

/* With each case's loops on what the options say, by a rule that some kernel must go by. */
void ruled_check(int n, const ruled *c, const ts_options *on);
/* On target c with each of the instruction sets, separated by blanks, that this machine has. */
void ruled_check_sets(int n, const ruled *c, const char *sets);
/* The same, then[i] being of row i's result: operations that are in no table, which op "" is for; NULL: none. */
void ruled_check_then(int n, const ruled *c, const struct op *const *then, const ts_options *on);
#endif
