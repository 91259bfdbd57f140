/* channels_last.c - convolution and pooling of [batch, space..., channel], weights [out, kernel..., in / group]: the
 * operations for channels in front, between transpositions that fusion turns into ways of reading. */
#include "graph/ops/fused.h"
#include "graph/ops/window.h"

#include <string.h>

/* ---- recipes ---- */
/* n's operation without "_last", on operands with their channels in front. */
static const node *lower_last(graph *g, const node *n)
{
    const node *in[2];
    char name[32] = {0};
    memcpy(name, n->op->name, strlen(n->op->name) - strlen("_last"));
    for (int i = 0; i < n->n_in; i++)
        in[i] = fused_channels(g, n->in[i], false);
    return fused_channels(g, g_apply_n(g, name, n->n_in, in, op_n_attr(n->op), n->attr), true);
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
