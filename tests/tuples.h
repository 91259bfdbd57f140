/* tuples.h - folds of several values along the last axis, for tests: operations that are in no table. Constant records.
 * */
#ifndef TS_TESTS_TUPLES_H
#define TS_TESTS_TUPLES_H
#include "graph/ir/graph.h"

/* A largest element and its place, the last of several; the sum and the largest; the logarithm of a sum of
 * exponentials under a running maximum; the variance by Welford's recurrence; the sign of the product and how many
 * are below 0, with a merge of its own. */
extern const op tuple_place, tuple_both, tuple_softmax, tuple_variance, tuple_signs;
/* Neither form has a merge: what came before counts half; digits of a number. */
extern const op tuple_fading, tuple_digits;
#endif
