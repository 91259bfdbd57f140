/* way.h - checks of what an operation offers as a cheaper way to its value (cheaper of its record). */
#ifndef TS_TEST_WAY_H
#define TS_TEST_WAY_H
#include "graph/ir/graph.h"

/* plain, which reads an input or two of f32: the other way gives the same integers as plain does in the interpreter. */
void way_is_same(graph *g, const node *plain, const char *target, int threads);
void way_is_none(graph *g, const node *plain);
#endif
