/* unflatten.h - axes that a reshape made one are kept apart. Nodes are the graph's, which keeps those it had. */
#pragma once
#include "graph/ir/graph.h"

/* Which axes are: those in places that are sums of several, or listed by a table; those of computed rows, too */
typedef enum kept_apart { NO_AXES, PLACED_AXES, ALL_AXES } kept_apart;
/* out[i] has the value of root[i], to the bit, in the same shape. False: g->err says why not. */
bool g_unflatten(graph *g, kept_apart which, int n, const node *const *root, const node **out);
