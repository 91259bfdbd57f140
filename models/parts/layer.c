/* layer.c - each layer makes its weights, with a scale that keeps the variance of what goes through it, and the calls
 * over them. */
#include "models/parts/layer.h"

#include <math.h>

/* As trained networks have them: small shifts, and scales around 1. */
static const double bias_scale = 0.05, norm_scale = 0.25;

static ts_tensor vector(maker *mk, const char *name, const char *part, int64_t n, double mean, double scale)
{
    return maker_weight(mk, name, part, 1, &n, mean, scale);
}

static double scale_for(double gain, int64_t products)
{
    return gain * sqrt(3 / (double)(products > 0 ? products : 1));
}

double layer_branch(int branches)
{
    return 1 / sqrt(branches);
}

ts_tensor layer_table(maker *mk, int64_t rows, int64_t width, double scale, const char *name)
{
    return maker_weight(mk, name, ".weight", 2, (const int64_t[]){rows, width}, 0, scale);
}

/* x [..., in] -> [..., out] */
ts_tensor layer_dense(maker *mk, ts_tensor x, int64_t out, double gain, const char *name)
{
    const int64_t in = maker_extent(x, -1);
    ts_tensor w = maker_weight(mk, name, ".weight", 2, (const int64_t[]){in, out}, 0,
                               scale_for(gain, in));             /* [in, out] */
    ts_tensor b = vector(mk, name, ".bias", out, 0, bias_scale); /* [out] */
    return ts_call2(mk->g, "add", ts_call2(mk->g, "matmul", x, w), b);
}

/* x [..., width] and what comes out alike; scale and bias [width] */
ts_tensor layer_norm(maker *mk, ts_tensor x, double epsilon, const char *name)
{
    const int64_t width = maker_extent(x, -1);
    ts_tensor scale = vector(mk, name, ".weight", width, 1, norm_scale); /* [width] */
    ts_tensor bias = vector(mk, name, ".bias", width, 0, bias_scale);    /* [width] */
    return maker_call(mk->g, 3, (const ts_tensor[]){x, scale, bias}, "layer_norm epsilon=%g", epsilon);
}

/* x [batch, in, h, w], w [out, in, kernel, kernel] -> [batch, out, h / stride, w / stride], rounded up */
ts_tensor layer_conv(maker *mk, ts_tensor x, conv c, const char *name)
{
    const int64_t in = maker_extent(x, 1), dim[] = {c.out, in, c.kernel, c.kernel};
    const int s = c.stride, p = c.kernel / 2;
    ts_tensor w = maker_weight(mk, name, ".weight", 4, dim, 0,
                               scale_for(c.gain, in * c.kernel * c.kernel)); /* [out, in, kernel, kernel] */
    ts_tensor b = vector(mk, name, ".bias", c.out, 0, bias_scale);           /* [out] */
    ts_tensor y = maker_call(mk->g, 2, (const ts_tensor[]){x, w}, "conv strides=[%d,%d] pads=[%d,%d,%d,%d]", s, s, p, p,
                             p, p); /* [batch, out, h / stride, w / stride] */
    return ts_call2(mk->g, "add", y,
                    maker_call(mk->g, 1, &b, "reshape shape=[%d,1,1]", c.out)); /* beside the channels */
}
