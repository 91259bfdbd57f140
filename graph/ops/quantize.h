/* quantize.h - integers that stand for reals, (q - zero) * scale, and products of them. Scales and zeros broadcast to
 * what they belong to; NULL for a zero is 0. Nodes are the graph's. NULL: it is no such product, or g has the error. */
#ifndef TS_QUANTIZE_H
#define TS_QUANTIZE_H
#include "graph/ir/rule.h"

/* matmul of what dequantize made of 8 bits, with one scale for all of the left and one for each column of the right, a
 * weight: the sum is one of integers, and is scaled then. */
const node *quantized_matmul(graph *g, const node *product, dtype a);
const node *integer_matmul_of(graph *g, const node *product, dtype a); /* integer_matmul, of a on the left */

const node *quantize_centred(graph *g, const node *q, const node *zero); /* q - zero in 32 bits */
const node *quantize_to(graph *g, const node *x, const node *scale, const node *zero, dtype to);
const node *quantize_back(graph *g, const node *q, const node *scale, const node *zero); /* in scale's dtype */
/* x as u8 by the range that it has itself; one scale and one zero */
const node *quantize_dynamic(graph *g, const node *x, const node **scale, const node **zero);
/* The product of a [..., m, k] and b [..., k, n] less their zeros, which come as quantize_rows takes them: [..., m, n]
 * in 32 bits */
const node *quantize_product(graph *g, const node *a, const node *za, const node *b, const node *zb);
/* v beside the last two axes of x [..., rows, columns]: v [rows] becomes [rows, 1], v [columns] stays, one number
 * becomes []; NULL stays. */
const node *quantize_rows(graph *g, const node *x, const node *v, bool columns);
#endif
