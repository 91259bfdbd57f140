/* winograd.h - another way to convolve, which the record of conv2d names; graph/ops/winograd.c has it.
 * The same type and value up to rounding; sums of small whole numbers stay exact. Nodes are the graph's. */
#pragma once
#include "graph/ir/graph.h"

/* conv2d of x [batch, channel, h, w] and 3 x 3 weights that are known, in steps of 1, in fewer products. False: it is
 * none; *c is what it takes. */
bool winograd_way(const node *conv, way_cost *c);
const node *winograd_conv(graph *g, const node *conv); /* of one that winograd_way takes; NULL: g has the error */
