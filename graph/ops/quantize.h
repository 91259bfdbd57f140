/* quantize.h - integers that stand for reals, (q - zero) * scale, and products of them. Scales and zeros broadcast to
 * what they belong to; NULL for a zero is 0. Nodes are the graph's. NULL: it is no such product, or g has the error. */
#pragma once
#include "graph/ir/rule.h"

/* matmul of what dequantize made of 8 bits, with one scale for all of the left and one for each column of the right, a
 * weight: the sum is one of integers, and is scaled then. */
const node *quantized_matmul(graph *g, const node *product, dtype a);
const node *integer_matmul_of(graph *g, const node *product, dtype a); /* integer_matmul, of a on the left */
/* The same of a convolution of an image by a weight whose scales go with what it gives (integer_conv.c) */
const node *quantized_conv(graph *g, const node *conv, dtype a);

typedef struct quantized { /* (x - zero) * scale */
    const node *x, *scale, *zero;
} quantized;
/* Whether n is that, of 8 bits; what is known, and a matrix that is turned, is seen through. */
bool quantize_stands(graph *g, const node *n, quantized *out);
bool quantize_known(const node *n); /* a weight, or made of weights alone, in few steps */
/* An operand of 8 bits and its zero as others of dtype `to`, both by 128 more or less: the zero is in 32 bits then, or
 * NULL where it is known to be 0. */
const node *quantize_signed(graph *g, const node *x, const node **zero, dtype to);
/* Sums of products by a_scale * b_scale / y_scale, rounded: of sum's shape. A scale or zero is one number, or
 * broadcasts to it. */
const node *quantize_rescaled(graph *g, const node *sum, const node *a_scale, const node *b_scale, const node *y_scale,
                              const node *zero);

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
