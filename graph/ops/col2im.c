/* col2im.c - columns of blocks laid back into an image: what overlaps adds up. */
#include "graph/ops/window.h"

/* ---- helpers ---- */
/* The window that took the blocks from the image; in: the image, out: how many blocks along each axis. */
static bool read_blocks(const node *n, window *w, err *e)
{
    const type *t = &n->in[0]->type;
    int64_t blocks = 1, points = 1;
    *w = (window){.n = node_attr(n, "image")->n};
    if (w->n < 1 || w->n > MAX_SPACE || t->rank != 3)
        return err_set(e, TS_UNSUPPORTED, "rank %d and %d spatial axes: 3, and 1 to %d, are supported", t->rank, w->n,
                       MAX_SPACE);
    if (!window_numbers(n, "image", w->n, w->in, 1, 1, e) || !window_numbers(n, "block", w->n, w->kernel, 1, 1, e) ||
        !window_steps(n, w, 0, e))
        return false;
    for (int s = 0; s < w->n; s++) {
        if (!window_places(w, s, 1) || !int_mul(blocks, w->out[s], &blocks) || !int_mul(points, w->kernel[s], &points))
            return err_set(
                e, TS_BAD_INPUT,
                "spatial axis %d: a block of %lld, dilated by %lld, in an image of %lld with %lld and %lld of padding; "
                "one that fits expected, and fewer than 2^63 blocks",
                s, (long long)w->kernel[s], (long long)w->dilation[s], (long long)w->in[s], (long long)w->before[s],
                (long long)w->after[s]);
    }
    if (t->dim[1] % points || t->dim[2] != blocks)
        return err_set(e, TS_BAD_INPUT, "%lld rows and %lld columns: blocks of %lld points and %lld columns expected",
                       (long long)t->dim[1], (long long)t->dim[2], (long long)points, (long long)blocks);
    return true;
}

/* ---- ONNX ---- */
static bool adapt_col2im(const onnx_call *c, const node **out, err *e)
{
    int64_t image[MAX_SPACE], block[MAX_SPACE];
    int n, m, k = 2;
    attr list[5];
    if (!onnx_ints(c, "", 1, image, MAX_SPACE, &n, e) || !onnx_ints(c, "", 2, block, MAX_SPACE, &m, e))
        return false;
    list[0] = attr_ints("image", n, image), list[1] = attr_ints("block", m, block);
    for (int i = 0; i < c->n_attr && k < COUNT(list); i++)
        list[k++] = c->attr[i];
    return onnx_give(c, out, g_apply(c->g, "col2im", c->in[0], k, list), e);
}

/* ---- shape, body ---- */
static bool col2im_shape(const node *n, type *out, err *e)
{
    window w;
    if (!read_blocks(n, &w, e))
        return false;
    const type *t = &n->in[0]->type;
    *out = (type){.dtype = t->dtype, .rank = 2 + w.n, .dim = {t->dim[0], t->dim[1]}};
    for (int s = 0; s < w.n; s++)
        out->dim[1] /= w.kernel[s], out->dim[s + 2] = w.in[s];
    return true;
}

/* y[n, c, o...] = sum over k... of x[n, (c, k...), b...] with b = (o + before - k * dilation) / stride, where that
 * leaves no rest and is a block */
static const expr *col2im_body(defn *d)
{
    arena *mem = d->mem;
    const expr *row = x_axis(mem, 1), *column = x_whole(mem, 0), *real = NULL;
    uint32_t folds = 0;
    window w;
    if (!read_blocks(d->node, &w, d->err))
        return NULL;
    for (int s = 0; s < w.n; s++) {
        const int fold = defn_fold(d, w.kernel[s]);
        const expr *k = x_axis(mem, fold), *stride = x_whole(mem, w.stride[s]);
        const expr *from = x_said(mem, "o + before - k * apart", "o", x_axis(mem, s + 2), "k", k, "before",
                                  x_whole(mem, w.before[s]), "apart", x_whole(mem, w.dilation[s]), NULL);
        const expr *block = x2(mem, "floordiv", from, stride);
        const expr *here = x_said(mem, "from % stride == 0 && (0 <= block && block < n)", "from", from, "stride",
                                  stride, "block", block, "n", x_whole(mem, w.out[s]), NULL);
        folds |= 1u << fold, real = x_both(mem, real, here);
        row = x2(mem, "add", x_offset(mem, row, w.kernel[s], 0), k);
        column = x2(mem, "add", x_offset(mem, column, w.out[s], 0), block);
    }
    const expr *x = defn_at(d, 0, (const expr *const[]){x_axis(mem, 0), row, column});
    return x_fold(mem, "add", folds, x3(mem, "select", real, x, x_whole(mem, 0)));
}

/* ---- records ---- */
const op ops_col2im[] = {
    BODY("col2im a image:I block:I strides:I= dilations:I= pads:I=", col2im_body,
         "col2im(a, image, block, strides, dilations, pads)", NULL,
         "f32[1,5,5] image=[5,5] block=[1,5]\nf32[2,8,9] image=[4,4] block=[2,2]\n"
         "f64[1,4,4] image=[5,5] block=[2,2] strides=[2,2] dilations=[2,1]\n"
         "f32[1,4,25] image=[4,4] block=[2,2] pads=[1,1,1,1]\nf32[1,3,5] image=[7] block=[3]",
         "Columns of blocks [n, channel and point, block] laid back into [n, channel, space...].",
         .adapted = ADAPTED({"Col2Im 18 .i 3 dilations pads strides", adapt_col2im}),
         .onnx_cases = "Col2Im f32[1,4,9] i64[2]=4 i64[2]=2", .shape = col2im_shape),
    {0},
};
