/* likelihood.c - losses of classes: the negative logarithm of what was given to the right class. Labels stand without
 * the axis of classes, which is axis 1. */
#include "graph/ir/rule.h"

#include <string.h>

/* ---- helpers ---- */
/* Labels [batch, ...] with an axis of one class, [batch, 1, ...], and 0 in place of those that do not count. */
static const node *safe_labels(graph *g, const node *labels, const node *counts)
{
    const node *at = labels;
    if (counts)
        at = g_call3(g, "where", counts, labels, g_scalar_like(g, labels, 0));
    return g_call1(g, "expand_dims axes=[1]", at);
}

/* What each label weighs, [batch, ...]: nothing if ignored, its class's weight [class], or 1. NULL: all alike. */
static const node *weight_of(graph *g, const node *x, const node *labels, const node *weight, const node *counts)
{
    const node *w = NULL;
    if (weight) {
        const node *at = g_call1(g, "squeeze axes=[1]", safe_labels(g, labels, counts));
        w = g_call2(g, "gather", weight, at);
    }
    if (!counts)
        return w;
    w = w ? w : g_scalar_like(g, x, 1);
    return g_call3(g, "where", counts, w, g_scalar_like(g, w, 0));
}

/* ---- ONNX ---- */
static bool adapt_cross_entropy(const onnx_call *c, const node **out, err *e)
{
    const node *log_p = g_call1(c->g, "log_softmax axis=1", c->in[0]);
    const node *in[] = {log_p, c->in[1], onnx_in(c, 2)}; /* [batch, class, ...], [batch, ...], [class] */
    return onnx_give_all(c, out, NODES(onnx_made(c, in[2] ? 3 : 2, in, 0, NULL), log_p), e);
}

/* ---- recipes ---- */
/* Operands: logarithms [batch, class, ...], labels [batch, ...], perhaps weights [class]; found [batch, 1, ...],
 * loss, w and counts [batch, ...]. */
static const node *nll_loss_lower(graph *g, const node *n)
{
    const char *how = node_attr(n, "reduction")->s;
    const attr *ignore = node_attr(n, "ignore");
    if (n->n_in < 2 || n->n_in > 3)
        return g_fail(g, TS_BAD_INPUT, "%d operands given, takes log-likelihoods, labels and perhaps weights", n->n_in);
    const node *x = n->in[0], *labels = n->in[1], *counts = NULL;
    if (x->type.rank < 2 || labels->type.rank != x->type.rank - 1 || dtype_class(labels->type.dtype) != D_WHOLE)
        return g_refuse(g, 2, n->in, "logarithms [batch, class, ...] and labels, integers [batch, ...],");
    if (ignore->kind == 'i')
        counts = g_call2(g, "not_equal", labels, g_scalar_like(g, labels, (double)ignore->i));
    const node *w = weight_of(g, x, labels, n->n_in > 2 ? n->in[2] : NULL, counts);
    const node *found = g_callf(g, NODES(x, safe_labels(g, labels, counts)), "take_along_axis axis=1");
    const node *loss = g_call1(g, "negative", g_call1(g, "squeeze axes=[1]", found));
    if (w)
        loss = g_call2(g, "multiply", loss, w);
    if (!strcmp(how, "none"))
        return loss;
    if (!strcmp(how, "sum") || (w && !strcmp(how, "mean")))
        return !strcmp(how, "sum") ? g_call1(g, "sum", loss)
                                   : g_call2(g, "divide", g_call1(g, "sum", loss),
                                             g_call1(g, "sum", g_broadcast(g, w, labels->type.rank, labels->type.dim)));
    if (!strcmp(how, "mean"))
        return g_call1(g, "mean", loss);
    return g_fail(g, TS_BAD_INPUT, "reduction: \"%s\" is none of none, sum, mean", how);
}

/* ---- records ---- */
const op ops_likelihood[] = {
    RECIPE("nll_loss ... reduction:s=mean ignore:i=", nll_loss_lower,
           "(lambda t, w: {'none': t * w, 'sum': (t * w).sum(), 'mean': (t * w).sum() / w.sum()}[reduction])("
           "-np.take_along_axis(a, np.where(b == ignore, 0, b)[:, None], 1)[:, 0], "
           "(np.ones(a.shape[1], a.dtype) if c is None else c)[np.where(b == ignore, 0, b)] * (b != ignore))",
           "NegativeLogLikelihoodLoss 12 FiF 2..3 ignore:ignore_index reduction",
           "f32[3,5] i64[3]<5\nf32[3,5] i64[3]<5 reduction=sum\nf32[3,5,2] i32[3,2]<5 f32[5]+ reduction=none\n"
           "f32[9,5] i64[9]<5 f32[5]+ ignore=-1\nf64[9,3] u8[9]<3 ignore=2 reduction=none\n"
           "f32[9,5,2,3] i64[9,2,3]<5 ignore=1\nf32[9,5] i64[9]<5 f32[5]+ reduction=sum ignore=0",
           "What log-likelihoods say against the right classes, weighted by class; `ignore` is a label that does not "
           "count.",
           .adapted = ADAPTED(
               {"SoftmaxCrossEntropyLoss 12 FiF 2..3 >2 ignore:ignore_index reduction", adapt_cross_entropy})),
    {0},
};
