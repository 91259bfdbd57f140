/* group.h - the nodes of a group: what a recipe was expanded to, or what was recognised as one.
 * Derived from the graph each time, never kept; nodes are the graph's, the list is of the arena given. */
#pragma once
#include "graph/ir/graph.h"

/* What the result is made of down to the group's operands, which are older than its first node, or named; the result
 * first. Leaves are left out. How many; *out is of mem. */
int group_nodes(const graph *g, const group *q, arena *mem, const node ***out);
