/* rig.h - built-in models for tests: bound by one line of dimensions and looked into. A model is the caller's, to free;
 * nodes are its graph's. */
#ifndef TS_TESTS_MODELS_RIG_H
#define TS_TESTS_MODELS_RIG_H
#include "graph/ir/graph.h"

enum { RIG_RESULTS = 64 };

ts_model *rig_model(const char *name, const char *dims, ts_error *e); /* "batch=2 seq=7"; NULL on a mistake */
int rig_results(const ts_model *m, ts_tensor out[RIG_RESULTS]);
const node **rig_nodes(const ts_model *m, int *n); /* that the results need, by id; free it */
#endif
