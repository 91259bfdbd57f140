/* blocks.h - sums along an axis that is walked in blocks: nodes like any others, with the same value up to rounding.
 * Whether they stand in place of whole sums, and how long blocks are, the caller says.
 * Nodes are the graph's; where it refuses, they are NULL and it has the reason. */
#pragma once
#include "graph/ir/graph.h"

/* What becomes of rows whose weights come to 0 (-inf alone): NaN; their sums; 0, as where the weights come to NaN. */
typedef enum empty_rows { AS_THEY_ARE, ZEROS, NO_NAN } empty_rows;
/* softmax(scores) @ values, block by block, so that of no value there are as many elements as scores: scores
 * [..., rows, n], values [..., n, width]. */
const node *g_blocked_softmax(graph *g, const node *scores, const node *values, int64_t size, empty_rows empty);
