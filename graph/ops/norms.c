/* norms.c - normalisations of older networks: by a norm, by neighbouring channels, by mean and variance of chosen axes,
 * and the softmax that gives everything to the largest. */
#include "graph/ir/rule.h"

/* ---- shape ---- */
static bool lrn_shape(const node *n, type *out, err *e)
{
    *out = n->in[0]->type;
    if (out->rank < 2 || node_int(n, "size") < 1 || dtype_class(out->dtype) != D_REAL)
        return operands_refuse(1, n->in, e, "reals [batch, channel, ...] and size %lld of 1 or more",
                               (long long)node_int(n, "size"));
    return true;
}

/* ---- body ---- */
/* y[n, c, ...] = x[n, c, ...] / (bias + alpha / size * sum over k of x[n, c - before + k, ...]^2)^beta */
static const expr *lrn_body(defn *d)
{
    arena *mem = d->mem;
    const type *t = &d->node->type;
    const int64_t size = node_int(d->node, "size"), farthest = t->dim[1] > 0 ? t->dim[1] - 1 : 0;
    /* channels below and above, no more than there are */
    const int64_t before = (size - 1) / 2 < farthest ? (size - 1) / 2 : farthest;
    const int64_t after = size / 2 < farthest ? size / 2 : farthest;
    const expr *sub[MAX_RANK];
    defn_axes(d, t->rank, sub);
    const int fold = defn_fold(d, before + 1 + after);
    const expr *x = defn_at(d, 0, sub),
               *place = x2(mem, "add", x_axis(mem, 1), x_offset(mem, x_axis(mem, fold), 1, -before));
    sub[1] = place;
    const expr *near = x3(mem, "select", x_inside(mem, place, 0, t->dim[1]), defn_at(d, 0, sub), x_real(mem, 0));
    const expr *sum = x_fold(mem, "add", 1u << fold, x2(mem, "mul", near, near));
    return x_said(mem, "x / pow(bias + sum * alpha, beta)", "x", x, "sum", sum, "alpha",
                  x_real(mem, node_real(d->node, "alpha") / (double)size), "beta",
                  x_real(mem, node_real(d->node, "beta")), "bias", x_real(mem, node_real(d->node, "bias")), NULL);
}

/* ---- recipes ---- */
/* x / |x|, of the p-th norm along the axis; 0 stays. */
static const node *lp_norm_lower(graph *g, const node *n)
{
    const node *x = n->in[0];
    const int64_t p = node_int(n, "p"), axis = node_int(n, "axis");
    if (p != 1 && p != 2)
        return g_fail(g, TS_BAD_INPUT, "p: %lld is neither 1 nor 2", (long long)p);
    const node *size = g_over(g, p == 1 ? "norm1" : "norm2", x, 1, &axis);   /* x with 1 at the axis */
    const node *none = g_call2(g, "equal", size, g_scalar_like(g, size, 0)); /* as size */
    return g_call2(g, "divide", x, g_call3(g, "where", none, g_scalar_like(g, size, 1), size));
}

/* (x - mean) / (deviation + 1e-9) along the axes, as the specification has it. */
static const node *standardize_lower(graph *g, const node *n)
{
    const attr how[] = {attr_int("keepdims", 1), *node_attr(n, "axes")};
    const node *away = g_call2(g, "subtract", n->in[0], g_apply(g, "mean", n->in[0], 2, how)); /* x's shape */
    /* with 1 at the axes */
    const node *spread = g_call1(g, "sqrt", g_apply(g, "mean", g_call1(g, "square", away), 2, how));
    return g_call2(g, "divide", away, g_call2(g, "add", spread, g_scalar_like(g, spread, 1e-9)));
}

/* 1 at the first largest element along the axis, 0 elsewhere. */
static const node *hardmax_lower(graph *g, const node *n)
{
    const node *x = n->in[0];
    int axis;
    if (!attr_axis(n, "axis", x->type.rank, &axis, &g->err))
        return NULL;
    if (type_count(&x->type) == 0)
        return x;
    const node *best = g_callf(g, 1, &x, "argmax axis=%d keepdims=1", axis); /* [..., 1 at the axis, ...] */
    const node *place = g_along(g, g_count(g, x->type.dim[axis], TS_I64), x->type.rank, axis);
    return g_cast(g, g_call2(g, "equal", place, best), x->type.dtype);
}

/* ---- records ---- */
const op ops_norms[] = {
    RECIPE("lp_norm a axis:i=-1 p:i=2 -> r c", lp_norm_lower,
           "(lambda s: a / np.where(s == 0, np.asarray(1).astype(s.dtype), s))((np.abs(a) ** p).sum(axis, "
           "keepdims=True) ** np.asarray(1 / p).astype(a.dtype))",
           "LpNormalization 1 f 1 axis p", "f32[2,3]\nf32[2,3,4] axis=1 p=1\nf64[5,7] axis=0\nf32[2,3]=0\nf32[0,2]",
           "Divided by the sum of sizes (p=1) or the root of the sum of squares (p=2) along an axis."),
    RECIPE("standardize a axes:I= -> r c", standardize_lower,
           "(lambda d: d / (np.sqrt(np.square(d).mean(axes, keepdims=True)) + 1e-9))(a - a.mean(axes, keepdims=True))",
           "MeanVarianceNormalization 1 f 1 axes=[0,2,3]", "f32[2,3,4,5] axes=[0,2,3]\nf64[5,7]\nf32[3,4] axes=[-1]",
           "Mean 0 and variance 1 over the listed axes, or over all."),
    RECIPE("hardmax a axis:i=-1 -> r c", hardmax_lower,
           "(np.expand_dims(a.argmax(axis), axis) == np.arange(a.shape[axis]).reshape([-1 if i == axis % a.ndim "
           "else 1 for i in range(a.ndim)])).astype(a.dtype) if a.size else a",
           NULL, "f32[2,3]\nf32[2,3,4] axis=1\nf64[5,7] axis=0\nf32[4]=1\nf32[0,2]",
           "1 at the first largest element along an axis, 0 elsewhere.",
           .adapted = ADAPTED({"Hardmax 1 f 1 axis", onnx_adapt_along})),
    BODY("lrn a size:i alpha:f=0.0001 beta:f=0.75 bias:f=1 -> n c h w | k", lrn_body,
         "a / (bias + alpha / size * np.stack([np.square(a[:, max(0, c - (size - 1) // 2):c + size // 2 + "
         "1]).sum(1) for c in range(a.shape[1])], 1)) ** beta",
         "LRN 1 f 1 alpha beta bias size=1",
         "f32[2,5,3,4] size=3\nf32[1,6,2,2] size=4 alpha=0.5 beta=0.5 bias=2\nf64[2,3,5] size=9 alpha=1\n"
         "f32[2,3,2] size=4611686018427387905 alpha=1e18\nf32[3,4] size=1\nf32[0,3,2] size=3",
         "Every channel divided by a power of the squares of the `size` channels around it.", .shape = lrn_shape),
    {0},
};
