/* causal_conv.c - a convolution along the last axis, a kernel for each channel, that reads what came before: the past
 * goes in front, and the last elements are the next call's past. */
#include "graph/ir/rule.h"

#include <string.h>

/* ---- helpers ---- */
/* [batch, channel, k - 1 + time] */
static const node *with_past(graph *g, const node *x, const node *past)
{
    return g_call(g, "concat axis=2", NODES(past, x));
}

/* ---- ONNX ---- */
static bool adapt_causal_conv(const onnx_call *c, const node **out, err *e)
{
    graph *g = c->g;
    const char *activation = onnx_word(c, "activation", "none");
    /* x [batch, channel, time], w [channel, 1, kernel] */
    const node *x = c->in[0], *w = c->in[1], *bias = onnx_in(c, 2), *past = onnx_in(c, 3);
    const bool smooth = !strcmp(activation, "silu") || !strcmp(activation, "swish");
    if (x->type.rank != 3 || w->type.rank != 3 || w->type.dim[2] < 1)
        return err_set(e, TS_BAD_INPUT,
                       "CausalConvWithState: ranks %d and %d; [batch, channel, time] and [channel, 1, kernel] expected",
                       x->type.rank, w->type.rank);
    if (!smooth && strcmp(activation, "none"))
        return err_set(e, TS_UNSUPPORTED, "CausalConvWithState: activation \"%s\", silu, swish or none expected",
                       activation);
    const int64_t kept = w->type.dim[2] - 1;
    const type before = {.dtype = x->type.dtype, .rank = 3, .dim = {x->type.dim[0], x->type.dim[1], kept}};
    past = past ? past : g_filled(g, &before, 0);
    const node *y = g_call3(g, "causal_conv", x, w, past); /* [batch, channel, time] */
    if (y && bias)
        y = g_call2(g, "add", y, g_call1(g, "expand_dims axes=[1]", bias));
    if (smooth) /* as its definition says, in f32 */
        y = g_cast(g, g_call1(g, "silu", g_cast(g, y, x->type.dtype == TS_F64 ? TS_F64 : TS_F32)), x->type.dtype);
    if (!onnx_give(c, out, y, e) || c->n_out < 2)
        return y != NULL;
    const node *all = with_past(g, x, past); /* [batch, channel, kept + time] */
    return onnx_give(c, out + 1, g_part(g, all, 2, x->type.dim[2], kept), e);
}

/* ---- recipes ---- */
static const node *causal_lower(graph *g, const node *n)
{
    const type *x = &n->in[0]->type, *w = &n->in[1]->type, *past = &n->in[2]->type;
    if (x->rank != 3 || w->rank != 3 || past->rank != 3 || w->dim[0] != x->dim[1] || w->dim[1] != 1 ||
        past->dim[0] != x->dim[0] || past->dim[1] != x->dim[1] || past->dim[2] != w->dim[2] - 1)
        return g_refuse(g, 3, n->in,
                        "x [batch, channel, time], kernels [channel, 1, k], the past [batch, channel, k - 1]");
    return g_callf(g, NODES(with_past(g, n->in[0], n->in[2]), n->in[1]), "conv group=%lld", (long long)x->dim[1]);
}

/* ---- records ---- */
const op ops_causal_conv[] = {
    RECIPE("causal_conv a b c -> n c t", causal_lower,
           "conv(np.concatenate([c, a], 2), b, None, None, None, a.shape[1])", NULL,
           "f32[2,3,7] f32[3,1,4] f32[2,3,3]\nf64[1,2,1] f64[2,1,3] f64[1,2,2]\nf32[1,2,5] f32[2,1,1] f32[1,2,0]",
           "Convolution along time, a kernel for each channel, over the past and x.",
           .adapted = ADAPTED({"CausalConvWithState 27 F 2..4 >2 activation", adapt_causal_conv}),
           .onnx_cases = "CausalConvWithState f32[2,3,7] f32[3,1,4]"),
    {0},
};
