/* reference.h - exported models against the inputs and outputs stored beside them: one row of a table for each. Rows
 * are only read; a model lives for its row. */
#ifndef TS_TEST_REFERENCE_H
#define TS_TEST_REFERENCE_H
#include <stdbool.h>

typedef struct reference {
    const char *name;    /* a folder of $TESSERA_MODELS, or "exports-small/NAME" of $SHARED/models */
    const char *targets; /* "c interp" */
    double relative;     /* |ours - stored| <= relative * max |stored|, for each output; integers are equal */
} reference;

/* Imports each model, binds it by the shapes of every set of data, and runs it on its targets; a row of a table for
 * each: nodes in the file and in the graph, the largest relative error and the seconds on each target. What is not
 * prepared on this machine is named. Returns how many models were there. */
int references_check(int n, const reference *row);
int references_small(const char *targets); /* of the small ones all that there are */
#endif
