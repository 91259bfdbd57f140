/* unflatten.h - axes that a reshape made one are kept apart. Nodes are the graph's, which keeps those it had. */
#pragma once
#include "graph/ir/graph.h"

/* out[i] has the value of root[i], to the bit, in the same shape. False: g->err says why not. */
bool g_unflatten(graph *g, int n, const node *const *root, const node **out);
