/* normalize.c - softmax and the normalisations, as recipes over reductions and arithmetic. Each stays visible as a
 * group, which a rule may treat as one. */
#include "graph/ir/rule.h"

#include <string.h>

/* ---- helpers ---- */
/* 1 / sqrt(mean(y * y) + epsilon) over the given axes. */
static const node *inverse_size(graph *g, const node *y, int n, const int64_t *axes, double epsilon)
{
    const node *square = g_over(g, "mean", g_call1(g, "square", y), n, axes); /* [..., 1 at the axes, ...] */
    return g_call1(g, "rsqrt", g_call2(g, "add", square, g_scalar_like(g, square, epsilon)));
}

/* (x - mean) / sqrt(variance + epsilon), both over the given axes. */
static const node *standard(graph *g, const node *x, int n, const int64_t *axes, double epsilon)
{
    const node *away = g_call2(g, "subtract", x, g_over(g, "mean", x, n, axes)); /* as x */
    return g_call2(g, "multiply", away, inverse_size(g, away, n, axes, epsilon));
}

/* A vector over channels, shaped to stand beside x[batch, channel, ...]. */
const node *g_by_channel(graph *g, const node *x, const node *v)
{
    if (!x || !v)
        return NULL;
    if (v->type.rank != 1 || x->type.rank < 2 || v->type.dim[0] != x->type.dim[1])
        return g_refuse(g, NODES(x, v), "x [batch, channel, ...] and a vector [channel]");
    return g_along(g, v, x->type.rank - 1, 0);
}

static const node *scaled(graph *g, const node *y, const node *scale, const node *bias)
{
    y = scale ? g_call2(g, "multiply", y, scale) : y;
    return bias ? g_call2(g, "add", y, bias) : y;
}

/* ---- ONNX ---- */
/* Before version 13 the axes from `axis` on (1 if absent) count as one; since then softmax runs along one axis
 * (the last if absent). flat [product of the axes before, of the others] */
bool onnx_adapt_along(const onnx_call *c, const node **out, err *e)
{
    const type *t = &c->in[0]->type;
    int64_t axis, shape[2] = {1, 1};
    if (!onnx_cut(c, c->version < 13 ? 1 : -1, t->rank, &axis, e))
        return false;
    /* halves of probabilities stay halves on the way, as the functions of the specification have it */
    const node *x = strcmp(c->op->name, "log_softmax") ? c->in[0] : g_widened(c->g, c->in[0]);
    if (c->version >= 13 || axis == t->rank - 1)
        return onnx_give(c, out, g_cast(c->g, g_callf(c->g, 1, &x, "%s axis=%d", c->op->name, (int)axis), t->dtype), e);
    for (int i = 0; i < t->rank; i++)
        if (!int_mul(shape[i >= axis], t->dim[i], &shape[i >= axis]))
            return operands_refuse(1, c->in, e, "rows of at most 2^63 - 1 elements");
    /* [before, axis and behind] */
    const node *flat = g_reshape(c->g, x, 2, shape);
    flat = g_cast(c->g, g_call1(c->g, c->op->name, flat), t->dtype);
    return onnx_give(c, out, g_reshape(c->g, flat, t->rank, t->dim), e);
}

/* What halves are standardised in: f32, unless the file says other. Wider operands keep their dtype. */
static bool stash_type(const onnx_call *c, dtype *stash, err *e)
{
    return onnx_dtype(onnx_int(c, "stash_type", 1), stash, e);
}

static const node *stashed(const onnx_call *c, dtype stash)
{
    const node *x = c->in[0];
    return ts_dtype_bytes(stash) > ts_dtype_bytes(x->type.dtype) ? g_cast(c->g, x, stash) : x;
}

/* The operation of the operands that are there, with the node's epsilon and axis. Scale and bias are applied in the
 * operand's dtype. */
static bool adapt_norm(const onnx_call *c, const node **out, err *e)
{
    dtype stash;
    if (!stash_type(c, &stash, e))
        return false;
    const node *x = stashed(c, stash), *bias = onnx_in(c, 2), *y; /* x, y [before..., axes...], bias [axes...] */
    if (x == c->in[0])
        y = onnx_made(c, bias ? 3 : 2, c->in, 0, NULL);
    else
        y = scaled(c->g, g_cast(c->g, onnx_made(c, 1, &x, 0, NULL), c->in[0]->type.dtype), c->in[1], bias);
    return onnx_give(c, out, y, e);
}

/* Further outputs are the mean and the inverse deviation, x's shape with 1 at the axes: parts of the recipe, hence the
 * same nodes. */
static bool adapt_layer_norm(const onnx_call *c, const node **out, err *e)
{
    int64_t axes[MAX_RANK];
    int axis, n = 0;
    if (!adapt_norm(c, out, e))
        return false;
    dtype stash;
    if (!stash_type(c, &stash, e) || !axis_norm(onnx_own_int(c, "axis"), c->in[0]->type.rank, &axis, e))
        return false;
    for (int i = axis; i < c->in[0]->type.rank; i++)
        axes[n++] = i;
    graph *g = c->g;
    /* x, away [before..., axes...], mean [before..., 1...] */
    const node *x = stashed(c, stash), *mean = g_over(g, "mean", x, n, axes), *away = g_call2(g, "subtract", x, mean);
    if (c->n_out > 1 && !onnx_give(c, out + 1, g_cast(g, mean, stash), e))
        return false;
    const node *inverse = inverse_size(g, away, n, axes, onnx_own_real(c, "epsilon")); /* [before..., 1...] */
    return c->n_out < 3 || onnx_give(c, out + 2, g_cast(g, inverse, stash), e);
}

/* x [batch, channel, ...], scale and bias [channel] */
static bool adapt_instance_norm(const onnx_call *c, const node **out, err *e)
{
    const node *in[3];
    for (int i = 0; i < 3; i++)
        in[i] = g_widened(c->g, c->in[i]);
    const node *y = onnx_made(c, 3, in, 0, NULL); /* [batch, channel, ...] */
    return onnx_give(c, out, g_cast(c->g, y, c->in[0]->type.dtype), e);
}

/* x [batch, channel, ...]. Up to version 20 scale and bias have one number for each group, [groups], later for each
 * channel, [channel], which is what the first become. */
static bool adapt_group_norm(const onnx_call *c, const node **out, err *e)
{
    const node *in[3];
    const int64_t groups = onnx_int(c, "num_groups", 0);
    const type *t = &c->in[0]->type;
    if (groups < 1 || t->rank < 2 || t->dim[1] % groups)
        return err_set(e, TS_BAD_INPUT, "GroupNormalization: num_groups %lld, a divisor of the channels expected",
                       (long long)groups);
    for (int i = 0; i < 3; i++) {
        in[i] = c->in[i];
        if (i == 0 || c->version >= 21 || in[i]->type.rank != 1 || in[i]->type.dim[0] != groups)
            continue;
        const int64_t column[] = {groups, 1}, grid[] = {groups, t->dim[1] / groups}, all[] = {t->dim[1]};
        in[i] = g_reshape(c->g, in[i], 2, column);
        in[i] = g_broadcast(c->g, in[i], 2, grid);
        in[i] = g_reshape(c->g, in[i], 1, all);
    }
    for (int i = 0; i < 3; i++)
        in[i] = g_widened(c->g, in[i]);
    const node *y = onnx_made(c, 3, in, 0, NULL); /* [batch, channel, ...] */
    return onnx_give(c, out, g_cast(c->g, y, t->dtype), e);
}

/* ---- recipes ---- */
/* x - max(x), of x's shape: the same softmax, and no exponential above 1. What goes over the axis has 1 there. */
static const node *lowered(graph *g, const node *n)
{
    const node *x = n->in[0];
    int axis;
    if (!attr_axis(n, "axis", x->type.rank, &axis, &g->err))
        return NULL;
    if (x->type.dim[axis] == 0)
        return x;
    return g_call2(g, "subtract", x, g_over(g, "max", x, 1, (int64_t[]){axis}));
}

/* z of x's shape; the sum has 1 at the axis. */
static const node *softmax_lower(graph *g, const node *n)
{
    const node *z = g_call1(g, "exp", lowered(g, n)); /* as the operand */
    return g_call2(g, "divide", z, g_over(g, "sum", z, 1, (int64_t[]){node_int(n, "axis")}));
}

/* x - log(sum(exp(x))), of x's shape; the sum has 1 at the axis. */
static const node *log_softmax_lower(graph *g, const node *n)
{
    const node *x = lowered(g, n);
    /* [..., 1 at the axis, ...] */
    const node *sum = g_over(g, "sum", g_call1(g, "exp", x), 1, (int64_t[]){node_int(n, "axis")});
    return g_call2(g, "subtract", x, g_call1(g, "log", sum));
}

/* The axes from `axis` to the last. */
static int trailing(graph *g, const node *n, int64_t *axes)
{
    int first, count = 0;
    const int rank = n->in[0]->type.rank;
    if (!attr_axis(n, "axis", rank, &first, &g->err))
        return 0;
    for (int i = first; i < rank; i++)
        axes[count++] = i;
    return count;
}

static const node *norm_lower(graph *g, const node *n)
{
    int64_t axes[MAX_RANK];
    const int count = g_takes(g, n, 1, 3) ? trailing(g, n, axes) : 0;
    if (!count)
        return NULL;
    const node *x = n->in[0], *y; /* [before..., axes...] */
    const double epsilon = node_real(n, "epsilon");
    if (strcmp(n->op->name, "rms_norm"))
        y = standard(g, x, count, axes, epsilon);
    else
        y = g_call2(g, "multiply", x, inverse_size(g, x, count, axes, epsilon));
    return scaled(g, y, n->n_in > 1 ? n->in[1] : NULL, n->n_in > 2 ? n->in[2] : NULL);
}

/* Channels in groups: [batch, group, everything else] is normalised over the last axis. scale and bias [channel, 1,
 * ...] */
static const node *group_norm_lower(graph *g, const node *n)
{
    /* x [batch, channel, ...] */
    const node *x = n->in[0], *scale = g_by_channel(g, x, n->in[1]), *bias = g_by_channel(g, x, n->in[2]);
    if (!scale || !bias)
        return NULL;
    const int64_t groups = strcmp(n->op->name, "instance_norm") ? node_int(n, "groups") : x->type.dim[1];
    if (groups < 1 || x->type.dim[1] % groups)
        return g_fail(g, TS_BAD_INPUT, "%lld channels in %lld groups, a divisor of the channels expected",
                      (long long)x->type.dim[1], (long long)groups);
    int64_t part = x->type.dim[1] / groups;
    for (int i = 2; i < x->type.rank; i++)
        if (!int_mul(part, x->type.dim[i], &part))
            return g_refuse(g, 1, &x, "channels and places of at most 2^63 - 1 elements");
    const int64_t shape[] = {x->type.dim[0], groups, part};
    const node *y = g_reshape(g, x, 3, shape); /* [batch, group, part] */
    y = standard(g, y, 1, (int64_t[]){2}, node_real(n, "epsilon"));
    return scaled(g, g_reshape(g, y, x->type.rank, x->type.dim), scale, bias);
}

/* ---- grad ---- */
/* Derived from the recipe they would also pass through the maximum, which cancels out. */
static const node *softmax_grad(graph *g, const node *call, const node *y, const node *dy, int k)
{
    const int64_t axis = node_int(call, "axis");
    (void)k;
    const node *sum = g_over(g, "sum", g_call2(g, "multiply", dy, y), 1, &axis); /* [..., 1 at the axis, ...] */
    return g_call2(g, "multiply", g_call2(g, "subtract", dy, sum), y);
}

static const node *log_softmax_grad(graph *g, const node *call, const node *y, const node *dy, int k)
{
    const int64_t axis = node_int(call, "axis");
    (void)k;
    return g_call2(g, "subtract", dy, g_call2(g, "multiply", g_call1(g, "exp", y), g_over(g, "sum", dy, 1, &axis)));
}

/* ---- records ---- */
#define ALONG "axis:i=-1"
#define FROM_AXIS "axis:i=-1 epsilon:f=1e-05"
#define ONLY_EPSILON "epsilon:f=1e-05"

const op ops_normalize[] = {
    RECIPE("softmax a " ALONG " -> r c", softmax_lower,
           "(z := np.exp(a - a.max(axis, keepdims=True, initial=-np.inf))) / z.sum(axis, keepdims=True)", NULL,
           "f32[2,3]\nf32[2,3,4] axis=1\nf64[5,7]\nf32[3,2] axis=0\nf32[1]\nf32[2,0]\nf32[0,2]\nf32[4,100]",
           "Exponentials divided by their sum along an axis.",
           .adapted = ADAPTED({"Softmax 1 f 1 axis", onnx_adapt_along}), .grad = softmax_grad),
    RECIPE("log_softmax a " ALONG " -> r c", log_softmax_lower,
           "(z := a - a.max(axis, keepdims=True, initial=-np.inf)) - np.log(np.exp(z).sum(axis, keepdims=True))", NULL,
           "f32[2,3]\nf32[2,3,4] axis=1\nf64[5,7]\nf32[3,2] axis=0\nf32[1]\nf32[2,0]\nf32[0,2]",
           "Logarithm of softmax along an axis.", .adapted = ADAPTED({"LogSoftmax 1 f 1 axis", onnx_adapt_along}),
           .grad = log_softmax_grad),
    RECIPE("layer_norm ... " FROM_AXIS " -> r c", norm_lower,
           "(lambda t: (a - a.mean(t, keepdims=True)) / np.sqrt(a.var(t, keepdims=True) + epsilon) * (1 if b is "
           "None else b) + (0 if c is None else c))(tuple(range(axis % a.ndim, a.ndim)))",
           NULL,
           "f32[2,8] f32[8] f32[8]\nf32[2,3,16] f32[16] f32[16] epsilon=1e-12\n"
           "f32[2,3,4] f32[3,4] f32[3,4] axis=1\nf64[5,7] f64[7]\nf32[3,5]\nf32[0,4] f32[4] f32[4]",
           "Mean 0 and variance 1 over the axes from `axis` on; then scale and bias where given.",
           .adapted = ADAPTED({"LayerNormalization 1 F 2..3 >3 axis epsilon stash_type", adapt_layer_norm})),
    RECIPE("rms_norm ... " FROM_AXIS " -> r c", norm_lower,
           "(lambda t: a / np.sqrt(np.square(a).mean(t, keepdims=True) + epsilon) * (1 if b is None else b) + (0 "
           "if c is None else c))(tuple(range(axis % a.ndim, a.ndim)))",
           NULL, "f32[2,8] f32[8]\nf32[2,3,4] f32[3,4] axis=1\nf64[5,7] f64[7] f64[7]\nf32[3,5]\nf32[0,4] f32[4]",
           "Mean square 1 over the axes from `axis` on; then scale and bias where given.",
           .adapted = ADAPTED({"RMSNormalization 23 f 2 axis epsilon stash_type", adapt_norm},
                              {"SimplifiedLayerNormalization 1 - 2 >2 axis epsilon stash_type", adapt_norm})),
    RECIPE("group_norm a b c groups:i epsilon:f=1e-05 -> n g c", group_norm_lower,
           "(lambda z, v: ((z - z.mean(-1, keepdims=True)) / np.sqrt(z.var(-1, keepdims=True) + "
           "epsilon)).reshape(a.shape) * v(b) + v(c))(a.reshape(a.shape[0], groups, -1), lambda v: v.reshape(-1, "
           "*[1] * (a.ndim - 2)))",
           NULL,
           "f32[2,8,4,3] f32[8] f32[8] groups=4\nf32[2,6,5] f32[6] f32[6] groups=1\n"
           "f64[1,4,2,2] f64[4] f64[4] groups=4 epsilon=0.001",
           "Mean 0 and variance 1 over groups of channels and all of space; then scale and bias of each channel.",
           .adapted = ADAPTED({"GroupNormalization 18 F 3 epsilon groups:num_groups stash_type", adapt_group_norm}),
           .onnx_cases = "GroupNormalization f32[2,4,3] f32[2] f32[2] num_groups=2"),
    RECIPE("instance_norm a b c " ONLY_EPSILON " -> n c h w", group_norm_lower,
           "(lambda t, v: (a - a.mean(t, keepdims=True)) / np.sqrt(a.var(t, keepdims=True) + epsilon) * v(b) + "
           "v(c))(tuple(range(2, a.ndim)), lambda v: v.reshape(-1, *[1] * (a.ndim - 2)))",
           NULL, "f32[2,3,4,5] f32[3] f32[3]\nf64[1,2,7] f64[2] f64[2] epsilon=0.001",
           "Mean 0 and variance 1 over all of space; then scale and bias of each channel.",
           .adapted = ADAPTED({"InstanceNormalization 1 F 3 epsilon", adapt_instance_norm})),
    {0},
};
