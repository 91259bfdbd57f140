/* cut.h - part of a tensor, axis by axis: where it starts, how it steps, how much it takes (graph/ops/slice.c).
 * A cut is a plain value; what cut_take left in it lies within the operand. */
#pragma once
#include "graph/ir/graph.h"

typedef struct cut { /* along every axis of the operand */
    int64_t start[MAX_RANK], step[MAX_RANK], size[MAX_RANK];
} cut;
typedef struct cut_range { /* start:end:step, as Python writes it; negative bounds count from the end */
    int64_t start, end, step;
} cut_range;
cut cut_whole(const type *t);
/* Python's slice.indices: bounds beyond the axis are moved to its ends. */
bool cut_take(cut *c, int axis, int64_t dim, cut_range of, err *e);
const node *cut_made(graph *g, const node *a, const cut *c);
