/* pool.c - the largest or the mean of every window of a channels-first tensor [batch, channel, space...]. */
#include "graph/ops/window.h"

#include <string.h>

/* ---- ONNX ---- */
static bool adapt(const onnx_call *c, const node **out, err *e)
{
    attr list[6];
    if (!window_adapt_pool(c, list, e))
        return false;
    if (!onnx_give(c, out, onnx_made(c, 1, c->in, 5, list), e))
        return false;
    if (c->n_out < 2)
        return true;
    list[5] = attr_int("columns", onnx_int(c, "storage_order", 0));
    /* [batch, channel, in...], [batch, channel, out...] */
    return onnx_give(c, out + 1, g_apply_n(c->g, "pool_places", NODES(c->in[0], out[0]), 6, list), e);
}

static bool adapt_global(const onnx_call *c, const node **out, err *e)
{
    int64_t axes[MAX_RANK];
    const int rank = c->in[0]->type.rank;
    for (int i = 2; i < rank; i++)
        axes[i - 2] = i;
    const char *fold = strcmp(c->op->name, "max_pool") ? "mean" : "max";
    return onnx_give(c, out, g_over(c->g, fold, c->in[0], rank > 2 ? rank - 2 : 0, axes), e);
}

/* ---- shape ---- */
static bool read_window(const node *n, window *w, err *e)
{
    if (!window_kernel(n, w, e))
        return false;
    for (int s = 0; s < w->n; s++) /* a window of padding alone would have no largest element and no mean */
        if (w->before[s] > (w->kernel[s] - 1) * w->dilation[s] || w->after[s] > (w->kernel[s] - 1) * w->dilation[s] ||
            w->in[s] == 0)
            return err_set(
                e, TS_BAD_INPUT,
                "spatial axis %d: %lld elements under a window of %lld, dilated by %lld, with pads of %lld and %lld, "
                "which would hold padding only; smaller pads expected",
                s, (long long)w->in[s], (long long)w->kernel[s], (long long)w->dilation[s], (long long)w->before[s],
                (long long)w->after[s]);
    return true;
}

static bool pool_shape(const node *n, type *out, err *e)
{
    window w;
    if (!read_window(n, &w, e))
        return false;
    *out = n->in[0]->type;
    for (int s = 0; s < w.n; s++)
        out->dim[s + 2] = w.out[s];
    return true;
}

static bool average_shape(const node *n, type *out, err *e)
{
    if (!pool_shape(n, out, e))
        return false;
    if (dtype_class(out->dtype) != D_REAL)
        out->dtype = TS_F64;
    return true;
}

/* ---- body ---- */
static const expr *element(defn *d, const window *w, double outside, uint32_t *folds)
{
    const expr *at[MAX_RANK], *inside = window_element(d, w, at, folds), *x = defn_at(d, 0, at);
    if (inside)
        x = x3(d->mem, "select", inside, x, x_literal(d->mem, d->node->in[0]->type.dtype, outside));
    return x_cast(d->mem, d->node->type.dtype, x);
}

static const expr *max_body(defn *d)
{
    window w;
    uint32_t folds;
    if (!read_window(d->node, &w, d->err))
        return NULL;
    const expr *x = element(d, &w, dtype_lowest(d->node->type.dtype), &folds);
    return x_fold(d->mem, "max", folds, x);
}

/* Kernel points of result o along spatial axis s that lie in [low, high): those k with low <= o * stride - before
 * + k * dilation < high. */
static const expr *points(arena *mem, const window *w, int s, int64_t low, int64_t high)
{
    const int64_t step = w->dilation[s];
    return x_said(mem, "min(floordiv(high - start, step), n) - max(floordiv(low - start, step), 0)", "start",
                  x_offset(mem, x_axis(mem, s + 2), w->stride[s], -w->before[s]), "step", x_whole(mem, step), "low",
                  x_whole(mem, low + step - 1), "high", x_whole(mem, high + step - 1), "n", x_whole(mem, w->kernel[s]),
                  NULL); /* both rounded up */
}

/* The divisor counts real elements, or with count_include_pad also padding, but nothing beyond it. */
static const expr *average_body(defn *d)
{
    window w;
    uint32_t folds;
    if (!read_window(d->node, &w, d->err))
        return NULL;
    const bool padding = node_int(d->node, "count_include_pad");
    const expr *x = element(d, &w, 0, &folds), *count = x_whole(d->mem, 1);
    for (int s = 0; s < w.n; s++) {
        const int64_t low = padding ? -w.before[s] : 0, high = w.in[s] + (padding ? w.after[s] : 0);
        const int64_t last = (w.out[s] - 1) * w.stride[s] - w.before[s] + (w.kernel[s] - 1) * w.dilation[s];
        const bool full = -w.before[s] >= low && last < high;
        count = x2(d->mem, "mul", count, full ? x_whole(d->mem, w.kernel[s]) : points(d->mem, &w, s, low, high));
    }
    return x2(d->mem, "div", x_fold(d->mem, "add", folds, x), x_cast(d->mem, d->node->type.dtype, count));
}

/* ---- records ---- */
const op ops_pool[] = {
    BODY("max_pool a " MAX_POOL_ATTRIBUTES " -> n c oh ow | kh kw", max_body,
         "windows(a, kernel, strides, dilations, pads, ceil_mode, -np.inf).max(axis=tuple(range(a.ndim, 2 * "
         "a.ndim - 2)))",
         NULL,
         "f32[1,3,14,19] kernel=[2,2]\nf32[1,3,14,19] kernel=[3,3] strides=[2,2] pads=[1,1,1,1]\nf32[2,2,9] kernel=[3] "
         "strides=[2] ceil_mode=1\ni32[1,2,6,6] kernel=[2,3] pads=[1,0,0,2]\nf64[1,1,5,6,7] kernel=[2,2,3] "
         "strides=[2,1,3]\nf32[1,2,10,10] kernel=[3,2] dilations=[2,3]\nu8[1,1,4,4] kernel=[3,3] pads=[1,1,1,1]\n"
         "f32[0,2,4,4] kernel=[2,2]\nf32[1,1,6,5] kernel=[3,3] strides=[2,2] pads=[0,0,1,1] ceil_mode=1\n"
         "f32[1,2,1,5] kernel=[3,2] strides=[2,2] pads=[1,0,0,0] ceil_mode=1",
         "Largest element of every window.",
         .adapted = ADAPTED(
             {"MaxPool 1 n 1 >2 auto_pad ceil_mode dilations kernel_shape pads storage_order strides", adapt},
             {"GlobalMaxPool 1 f 1", adapt_global}),
         .onnx_undefined = "MaxPool: Of equal maxima the first, row by row, gives the place.",
         .onnx_cases = "MaxPool f32[1,2,6,6] kernel_shape=[2,2]\nGlobalMaxPool f32[1,2,3,3]",
         .back = "MaxPool a kernel_shape=kernel strides=strides pads=pads dilations=dilations ceil_mode=ceil_mode",
         .shape = pool_shape),
    BODY("average_pool a " AVERAGE_POOL_ATTRIBUTES " -> n c oh ow | kh kw", average_body,
         "average_pool(a, kernel, strides, dilations, pads, ceil_mode, count_include_pad)", NULL,
         "f32[1,3,14,19] kernel=[2,2]\nf32[1,3,14,19] kernel=[3,3] strides=[2,2] pads=[1,1,1,1]\nf32[1,3,14,19] "
         "kernel=[3,3] strides=[2,2] pads=[1,1,1,1] count_include_pad=1\nf32[2,2,9] kernel=[3] strides=[2] pads=[1,0] "
         "ceil_mode=1\nf32[2,2,10] kernel=[3] strides=[2] pads=[1,1] ceil_mode=1 count_include_pad=1\nf64[1,1,5,6,7] "
         "kernel=[2,2,3] strides=[2,1,3]\nf32[1,2,10,10] kernel=[3,2] dilations=[2,3] pads=[2,3,1,0]\ni32[1,1,4,4] "
         "kernel=[2,2]\nf32[0,2,4,4] kernel=[2,2]\nf32[1,2,1,5] kernel=[3,2] strides=[2,2] pads=[1,0,0,0] ceil_mode=1\n"
         "f32[2,2,2] kernel=[4] strides=[3] ceil_mode=1 count_include_pad=1",
         "Mean of every window, over its real elements or also over padded zeros.",
         .adapted = ADAPTED(
             {"AveragePool 1 f 1 auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides", adapt},
             {"GlobalAveragePool 1 f 1", adapt_global}),
         .onnx_cases = "AveragePool f32[1,2,6,6] kernel_shape=[2,2]\nGlobalAveragePool f32[1,2,3,3]",
         .back = "AveragePool a kernel_shape=kernel strides=strides pads=pads dilations=dilations ceil_mode=ceil_mode "
                 "count_include_pad=count_include_pad",
         .shape = average_shape),
    {0},
};
