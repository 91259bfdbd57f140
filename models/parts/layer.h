/* layer.h - layers with their weights, as every network has them.
 * Scales keep activations finite and varied through any depth: a weight that feeds n products is uniform within
 * gain * sqrt(3 / n), so that gain 1 keeps the mean square of its input and gain sqrt(2) makes up for a relu. What ends
 * one of n residual branches has gain 1 / sqrt(n): then all of them together add as much as came in, and what was
 * different at the start (tokens, images) is still so at the end. Tensors are the graph's; the maker is borrowed for
 * the call. */
#pragma once
#include "models/parts/maker.h"

ts_tensor layer_table(maker *mk, int64_t rows, int64_t width, double scale, const char *name); /* [rows, width] */
/* x w + b with w[in, out], so that no transpose is needed, over the last axis of x */
ts_tensor layer_dense(maker *mk, ts_tensor x, int64_t out, double gain, const char *name);
ts_tensor layer_norm(maker *mk, ts_tensor x, double epsilon, const char *name); /* over the last axis */

double layer_branch(int branches); /* the gain of what ends one of them */

typedef struct conv {
    int out, kernel, stride; /* padded by half the kernel, so that stride 1 keeps height and width */
    double gain;
} conv;
ts_tensor layer_conv(maker *mk, ts_tensor x, conv c, const char *name); /* [n, in, h, w], weight [out, in, kh, kw] */
