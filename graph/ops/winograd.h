/* winograd.h - another way to convolve, which the record of conv2d names; graph/ops/winograd.c has it.
 * The same type and value up to rounding; sums of small whole numbers stay exact. Nodes are the graph's. */
#ifndef TS_WINOGRAD_H
#define TS_WINOGRAD_H
#include "graph/ir/graph.h"

/* conv2d of 3 x 3, in steps of 1, with weights that are known, in fewer products */
bool winograd_way(const node *conv, way_cost *c);
const node *winograd_conv(graph *g, const node *conv);
#endif
