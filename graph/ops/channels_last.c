/* channels_last.c - convolution and pooling of [batch, space..., channel], weights [out, kernel..., in / group]: the
 * operations for channels in front, between transpositions that fusion turns into ways of reading. */
#include "graph/ops/window.h"

#include <string.h>

/* ---- helpers ---- */
/* front: [batch, space..., channel] as [batch, channel, space...]; else back */
static const node *turned(graph *g, const node *x, bool front)
{
    const int rank = x ? x->type.rank : 0;
    int64_t axes[MAX_RANK];
    if (!x)
        return NULL;
    if (rank < 3)
        return g_fail(g, TS_BAD_INPUT, "rank %d: [batch, space..., channel] expected", rank);
    for (int i = 0; i < rank; i++)
        axes[i] = i == 0 ? 0 : front ? (i == 1 ? rank - 1 : i - 1) : i == rank - 1 ? 1 : i + 1;
    return g_transpose(g, x, rank, axes);
}

/* ---- recipes ---- */
/* n's operation without "_last", on operands with their channels in front. */
static const node *lower_last(graph *g, const node *n)
{
    const node *in[2];
    attr list[8];
    int k = 0;
    char name[32] = {0};
    memcpy(name, n->op->name, strlen(n->op->name) - strlen("_last"));
    const op *front = op_find(name);
    MUST(front);
    for (int i = 0; i < n->n_in; i++)
        in[i] = turned(g, n->in[i], true);
    for (const attr_spec *s = n->op->attr; s->name; s++)
        if (node_attr(n, s->name)->kind != '-')
            list[k++] = *node_attr(n, s->name);
    return turned(g, g_make(g, front, n->n_in, in, list, k), false);
}

/* ---- records ---- */
const op ops_channels_last[] = {
    RECIPE("conv_last a b " CONV_ATTRIBUTES " -> n oh ow oc | ic kh kw", lower_last,
           "np.moveaxis(conv(np.moveaxis(a, -1, 1), np.moveaxis(b, -1, 1), strides, dilations, pads, group), 1, -1)",
           NULL,
           "f32[1,28,3] f32[32,3,3]\nf32[1,28,3] f32[32,5,3] strides=[2] pads=[3,3]\nf32[1,14,19,3] f32[8,5,5,3] "
           "strides=[2,2] pads=[3,3,3,3]\nf64[2,7,8,6] f64[6,3,2,2] group=3 dilations=[2,1]\n"
           "f32[1,4,5,3,2] f32[2,2,2,2,2]",
           "Convolution of [batch, space..., channel] with weights [out, kernel..., in / group]."),
    RECIPE("max_pool_last a " MAX_POOL_ATTRIBUTES " -> n oh ow c | kh kw", lower_last,
           "np.moveaxis(windows(np.moveaxis(a, -1, 1), kernel, strides, dilations, pads, ceil_mode, "
           "-np.inf).max(axis=tuple(range(a.ndim, 2 * a.ndim - 2))), 1, -1)",
           NULL,
           "f32[1,14,19,3] kernel=[2,2]\nf32[1,14,19,3] kernel=[3,3] strides=[2,2] pads=[1,1,1,1]\nf32[2,9,2] "
           "kernel=[3]",
           "Largest element of every window of [batch, space..., channel]."),
    RECIPE("average_pool_last a " AVERAGE_POOL_ATTRIBUTES " -> n oh ow c | kh kw", lower_last,
           "np.moveaxis(average_pool(np.moveaxis(a, -1, 1), kernel, strides, dilations, pads, ceil_mode, "
           "count_include_pad), 1, -1)",
           NULL,
           "f32[1,14,19,3] kernel=[2,2]\nf32[1,14,19,3] kernel=[3,3] strides=[2,2] pads=[1,1,1,1] "
           "count_include_pad=1\nf64[2,9,2] kernel=[3] pads=[1,0]",
           "Mean of every window of [batch, space..., channel]."),
    {0},
};
