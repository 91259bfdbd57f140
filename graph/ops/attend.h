/* attend.h - heads side by side, and apart. Nodes are the graph's; NULL of a NULL operand. */
#pragma once
#include "graph/ir/rule.h"

const node *attend_apart(graph *g, const node *x, int64_t heads); /* [batch, time, heads * width] -> [b, h, t, w] */
const node *attend_together(graph *g, const node *x);             /* the other way */
