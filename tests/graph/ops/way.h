/* way.h - checks of what an operation offers as another way to its value, where a processor with AVX2 is to do it.
 * Nodes are the graph's, which the caller owns. */
#ifndef TS_TEST_WAY_H
#define TS_TEST_WAY_H
#include "graph/ir/graph.h"

/* plain, which reads an input or two of f32: the other way gives the same integers as plain does in the interpreter. */
void way_is_same(graph *g, const node *plain, const char *by, int threads);
void way_is_none(const node *plain);
#endif
