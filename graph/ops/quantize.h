/* quantize.h - products of small integers, which the records of products name; graph/ops/quantize.c has them. Nodes are
 * the graph's. NULL: it is no such product, or g has the error. */
#ifndef TS_QUANTIZE_H
#define TS_QUANTIZE_H
#include "graph/ir/graph.h"

/* matmul of what dequantize made of 8 bits, with one scale for all of the left and one for each column of the right, a
 * weight: the sum is one of integers, and is scaled then. */
const node *quantized_matmul(graph *g, const node *product, dtype a);
const node *integer_matmul_of(graph *g, const node *product, dtype a); /* integer_matmul, of a on the left */
#endif
