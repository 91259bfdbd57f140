/* residual_block.c - the block of residual networks: convolutions with their normalisations, added to what came in. */
#include "graph/ir/rule.h"

enum { EACH = 5 }; /* operands of a convolution: its weight; scale, bias, mean and variance of each channel */

/* ---- helpers ---- */
/* Batch norm of the convolution of x [batch, in, ...] with in[0] [out, in, ...]: [batch, out, ...].
 * Pads leave a window of odd extents its place. */
static const node *normal_conv(graph *g, const node *n, const node *x, const node *const *in, int64_t stride)
{
    int64_t strides[MAX_RANK], pads[2 * MAX_RANK];
    const type *w = &in[0]->type;
    if (!x)
        return NULL;
    const int space = x->type.rank - 2;
    if (w->rank != x->type.rank)
        return g_fail(g, TS_BAD_INPUT, "a weight of rank %d for x of rank %d; [out, in, ...] expected", w->rank,
                      x->type.rank);
    for (int i = 0; i < space; i++) {
        if (w->dim[i + 2] % 2 == 0)
            return g_fail(g, TS_BAD_INPUT, "a window of %lld has no middle; odd extents expected",
                          (long long)w->dim[i + 2]);
        strides[i] = stride, pads[i] = pads[space + i] = w->dim[i + 2] / 2;
    }
    const node *y = g_apply_n(g, "conv", NODES(x, in[0]),
                              ATTRS(attr_ints("strides", space, strides), attr_ints("pads", 2 * space, pads)));
    return g_apply_n(g, "batch_norm", NODES(y, in[1], in[2], in[3], in[4]),
                     ATTRS(*node_attr(n, "epsilon"), *node_attr(n, "momentum"), *node_attr(n, "training")));
}

static bool is_point(const type *w) /* a window of one element */
{
    for (int i = 2; i < w->rank; i++)
        if (w->dim[i] != 1)
            return false;
    return true;
}

/* Which convolution of `count` moves by the stride: the first one with a window, else the first. */
static int strided(const node *n, int count)
{
    for (int i = 0; i < count; i++)
        if (!is_point(&n->in[1 + EACH * i]->type))
            return i;
    return 0;
}

/* ---- recipes ---- */
/* relu(norm(conv(... relu(norm(conv(x))))) + x), or + norm(conv(x)) of the last weights with project=1. */
static const node *residual_lower(graph *g, const node *n)
{
    const bool project = node_int(n, "project") != 0;
    const int64_t stride = node_int(n, "stride");
    const int all = (n->n_in - 1) / EACH, count = all - project;
    if (n->n_in < 1 || (n->n_in - 1) % EACH || count < 1)
        return g_fail(g, TS_BAD_INPUT,
                      "%d operands given, takes x, then a weight, scale, bias, mean and variance for each convolution, "
                      "with project=1 one more",
                      n->n_in);
    const node *x = n->in[0], *y = x, *past = x; /* [batch, channel, ...] */
    if (x->type.rank < 3 || stride < 1)
        return g_fail(g, TS_BAD_INPUT, "x of rank %d, stride %lld: [batch, channel, ...] and 1 or more expected",
                      x->type.rank, (long long)stride);
    const int moving = strided(n, count);
    for (int i = 0; i < count; i++) {
        y = normal_conv(g, n, y, n->in + 1 + EACH * i, i == moving ? stride : 1);
        if (i < count - 1)
            y = g_call1(g, "relu", y);
    }
    if (project)
        past = normal_conv(g, n, x, n->in + 1 + EACH * count, stride);
    if (!y || !past)
        return NULL;
    if (!type_equal(&y->type, &past->type))
        return g_fail(g, TS_BAD_INPUT,
                      project
                          ? "the last weights bring x to %s, what the others give is %s: these cannot be added"
                          : "x is %s, what its convolutions give %s: these cannot be added; project=1 takes weights "
                            "that bring x there",
                      type_said(&past->type).s, type_said(&y->type).s);
    return g_call1(g, "relu", g_call2(g, "add", y, past));
}

/* ---- records ---- */
const op ops_residual_block[] = {
    RECIPE("residual_block ... stride:i=1 project:i=0 epsilon:f=1e-05 momentum:f=0.9 training:i=0 -> n c h w",
           residual_lower, "residual_block(conv, x, stride, project, epsilon, training)", NULL,
           "f32[2,3,4,5] f32[3,3,3,3] f32[3] f32[3] f32[3] f32[3]+ f32[3,3,3,3] f32[3] f32[3] f32[3] f32[3]+\n"
           "f64[1,2,5,4] f64[3,2,3,3] f64[3] f64[3] f64[3] f64[3]+ f64[3,3,3,3] f64[3] f64[3] f64[3] f64[3]+ "
           "f64[3,2,1,1] f64[3] f64[3] f64[3] f64[3]+ stride=2 project=1\n"
           "f64[1,4,6] f64[2,4,1] f64[2] f64[2] f64[2] f64[2]+ f64[2,2,3] f64[2] f64[2] f64[2] f64[2]+ f64[6,2,1] "
           "f64[6] f64[6] f64[6] f64[6]+ f64[6,4,1] f64[6] f64[6] f64[6] f64[6]+ stride=2 project=1\n"
           "f64[3,2,4] f64[2,2,3] f64[2] f64[2] f64[2] f64[2]+ training=1 epsilon=0.001",
           "Convolutions, each followed by batch_norm, with relu between them and, once x is added, behind them: x, "
           "then a weight, scale, bias, mean and variance for each; with project=1 the last five take x to what it "
           "is added to. The first convolution with a window of more than one element moves by `stride`, and that "
           "of x does."),
    {0},
};
