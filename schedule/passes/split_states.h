/* split_states.h - what parts of a fold of several values leave in memory: numbers of one dtype, from which the kernel
 * behind them has every state back to the bit. See split_states.c. Plain values; expressions are of the arena given. */
#pragma once
#include "graph/ir/graph.h"

enum { MAX_PIECE = 3 * MAX_STATE };
typedef struct pieces {
    dtype dtype;
    int n, count[MAX_STATE];  /* in all, and of each state, one behind the other */
    const expr *x[MAX_PIECE]; /* of that dtype, over the states */
} pieces;
dtype summed_as(dtype d); /* as accumulators are: halves in f32 */
void pieces_of(arena *mem, const expr *fold, pieces *out);
/* The fold of the parts, over the axis `along` and in its order: part[i], of that dtype, is piece i of one of them. */
const expr *pieces_merged(arena *mem, const expr *fold, int along, const expr *const *part);
