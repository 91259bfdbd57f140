/* rearrange.c - elements in another order: between depth and space, and sequences turned around. */
#include "graph/ir/rule.h"

#include <string.h>

/* ---- ONNX ---- */
static bool adapt_reverse_sequence(const onnx_call *c, const node **out, err *e)
{
    const type *t = c->n_in > 0 && c->in[0] ? &c->in[0]->type : NULL;
    int time;
    if (!axis_norm(onnx_own_int(c, "time_axis"), t->rank, &time, e) || !onnx_lengths(c, 1, 0, t->dim[time], e))
        return false;
    return onnx_give(c, out, onnx_made(c, 2, c->in, 0, NULL), e);
}

/* ---- shape, body ---- */
static bool reverse_shape(const node *n, type *out, err *e)
{
    const type *t = &n->in[0]->type, *length = &n->in[1]->type;
    int batch, time;
    *out = *t;
    if (!attr_axis(n, "batch_axis", t->rank, &batch, e) || !attr_axis(n, "time_axis", t->rank, &time, e))
        return false;
    if (batch == time || length->rank != 1 || length->dim[0] != t->dim[batch] || dtype_class(length->dtype) != D_WHOLE)
        return operands_refuse(
            2, n->in, e, "as the second integers, a length for each element of axis %d, other than the axis of time,",
            batch);
    return true;
}

/* y[t, b] = a[length[b] - 1 - t, b] for t < length[b], else a[t, b] */
static const expr *reverse_body(defn *d)
{
    const type *t = &d->node->type;
    const expr *sub[MAX_RANK];
    int batch, time;
    if (!attr_axis(d->node, "batch_axis", t->rank, &batch, d->err) ||
        !attr_axis(d->node, "time_axis", t->rank, &time, d->err))
        return NULL;
    defn_axes(d, t->rank, sub);
    const expr *length = x_cast(d->mem, TS_I64, defn_at(d, 1, &sub[batch])), *at = sub[time];
    sub[time] = x_said(d->mem, "at < length ? at(length - 1 - at, n) : at", "at", at, "length", length, "n",
                       x_whole(d->mem, t->dim[time]), NULL);
    return defn_at(d, 0, sub);
}

/* ---- recipes ---- */
/* The extents of x[batch, channel, height, width] in blocks; DCR: the block's places stand before the channels, CRD:
 * behind them. */
static bool read_blocks(graph *g, const node *n, int64_t *b, bool *before)
{
    const type *t = &n->in[0]->type;
    const char *mode = node_attr(n, "mode")->s;
    *b = node_int(n, "block"), *before = !strcmp(mode, "DCR");
    if (t->rank != 4 || *b < 1 || (!*before && strcmp(mode, "CRD")))
        return g_fail(g, TS_BAD_INPUT, "rank %d, block %lld, mode \"%s\"; rank 4, 1 or more, and DCR or CRD expected",
                      t->rank, (long long)*b, mode),
               false;
    return true;
}

static const node *depth_to_space_lower(graph *g, const node *n)
{
    static const int64_t dcr[] = {0, 3, 4, 1, 5, 2}, crd[] = {0, 1, 4, 2, 5, 3};
    const int64_t *d = n->in[0]->type.dim;
    int64_t b;
    bool before;
    if (!read_blocks(g, n, &b, &before))
        return NULL;
    if (b > INT32_MAX || d[1] % (b * b))
        return g_fail(g, TS_BAD_INPUT, "%lld channels do not make blocks of %lld", (long long)d[1], (long long)b);
    const int64_t deep = d[1] / (b * b), split[] = {d[0], before ? b : deep, b, before ? deep : b, d[2], d[3]};
    const node *y = g_transpose(g, g_reshape(g, n->in[0], 6, split), 6, before ? dcr : crd);
    return g_reshape(g, y, 4, (int64_t[]){d[0], deep, d[2] * b, d[3] * b});
}

static const node *space_to_depth_lower(graph *g, const node *n)
{
    static const int64_t dcr[] = {0, 3, 5, 1, 2, 4}, crd[] = {0, 1, 3, 5, 2, 4};
    const int64_t *d = n->in[0]->type.dim;
    int64_t b;
    bool before;
    if (!read_blocks(g, n, &b, &before))
        return NULL;
    if (d[2] % b || d[3] % b)
        return g_fail(g, TS_BAD_INPUT, "%lld x %lld is no whole number of blocks of %lld", (long long)d[2],
                      (long long)d[3], (long long)b);
    const int64_t split[] = {d[0], d[1], d[2] / b, b, d[3] / b, b};
    const node *y = g_transpose(g, g_reshape(g, n->in[0], 6, split), 6, before ? dcr : crd);
    return g_reshape(g, y, 4, (int64_t[]){d[0], d[1] * b * b, d[2] / b, d[3] / b});
}

/* ---- records ---- */
#define BLOCKS "block:i mode:s=DCR"

const op ops_rearrange[] = {
    RECIPE("depth_to_space a " BLOCKS, depth_to_space_lower,
           "(lambda n, c, h, w, k: (a.reshape(n, k, k, c // (k * k), h, w).transpose(0, 3, 4, 1, 5, 2) if mode == "
           "'DCR' else a.reshape(n, c // (k * k), k, k, h, w).transpose(0, 1, 4, 2, 5, 3)).reshape(n, c // (k * k), "
           "h * k, w * k))(*a.shape, block)",
           "DepthToSpace 1 - 1 block:blocksize=0 mode",
           "f32[1,8,2,3] block=2\nf32[2,8,2,3] block=2 mode=CRD\ni64[1,9,1,2] block=3\nf32[0,4,2,2] block=2",
           "Channels become squares of space: [n, c b b, h, w] as [n, c, h b, w b].",
           .onnx_cases = "DepthToSpace f32[1,4,2,2] blocksize=2"),
    RECIPE("space_to_depth a " BLOCKS, space_to_depth_lower,
           "(lambda n, c, h, w, k: a.reshape(n, c, h // k, k, w // k, k).transpose(*((0, 3, 5, 1, 2, 4) if mode == "
           "'DCR' else (0, 1, 3, 5, 2, 4))).reshape(n, c * k * k, h // k, w // k))(*a.shape, block)",
           "SpaceToDepth 1 - 1 block:blocksize=0 mode",
           "f32[1,2,4,6] block=2\nf32[2,3,3,3] block=3\nf32[1,3,4,2] block=2 mode=CRD\ni64[1,1,2,2] block=1",
           "Squares of space become channels: [n, c, h b, w b] as [n, c b b, h, w].",
           .onnx_cases = "SpaceToDepth f32[1,1,4,4] blocksize=2"),
    BODY("reverse_sequence a b batch_axis:i=1 time_axis:i=0", reverse_body,
         "np.moveaxis(np.stack([np.concatenate([s[:k][::-1], s[k:]]) for s, k in zip(np.moveaxis(a, (batch_axis, "
         "time_axis), (0, 1)), b)]), (0, 1), (batch_axis, time_axis))",
         NULL, "f32[4,3] u8[3]<5\nf32[3,4] u8[3]<5 batch_axis=0 time_axis=1\nf64[5,2,3] u64[2]<6",
         "The first length[b] elements along time in reverse, for every b of the batch.",
         .adapted = ADAPTED({"ReverseSequence 10 .i 2 batch_axis time_axis", adapt_reverse_sequence}),
         .onnx_undefined =
             "ReverseSequence: Lengths that are constant are 0 to the number of steps. Of others, one below "
             "0 leaves its sequence as it is, one beyond the end stops the run.",
         .shape = reverse_shape),
    {0},
};
