/* outcome.h - running a model for a test, and comparing what comes out. Arrays that come out are the caller's, until
 * arrays_free. */
#ifndef TS_TESTS_MODELS_OUTCOME_H
#define TS_TESTS_MODELS_OUTCOME_H
#include "tests/models/rig.h"

typedef struct arrays { /* one for each input or each result of a model */
    int n;
    ts_array at[RIG_RESULTS];
} arrays;
void arrays_free(arrays *a);
arrays outcome_inputs(const ts_model *m, uint64_t seed); /* random, integers within what the model allows */
bool outcome_run(ts_model *m, const char *target, const arrays *in, arrays *out, ts_error *e);
/* The largest difference, relative to the largest number of b; infinite where shapes differ or a number is
 * not finite. */
double outcome_distance(const ts_array *a, const ts_array *b);
#endif
