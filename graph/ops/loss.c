/* loss.c - what training makes small, as recipes: distances between what was computed and what was wanted. */
#include "graph/ir/rule.h"

#include <string.h>

/* ---- helpers ---- */
/* reduce=mean, sum or none of one loss for each item. */
static const node *reduced(graph *g, const node *call, const node *loss) /* [items...] -> [] or as it is */
{
    const char *how = node_attr(call, "reduce")->s;
    if (!strcmp(how, "none"))
        return loss;
    if (strcmp(how, "mean") && strcmp(how, "sum"))
        return g_fail(g, TS_BAD_INPUT, "reduce: \"%s\" is none of mean, sum, none", how);
    return g_call1(g, how, loss);
}

/* Labels [...] as [..., 1, ...], with the 1 at `axis`. */
static const node *beside(graph *g, const node *labels, int axis)
{
    return g_callf(g, 1, &labels, "expand_dims axes=[%d]", axis);
}

static bool pick_axis(graph *g, const node *n, int *axis)
{
    const type *a = &n->in[0]->type, *labels = &n->in[1]->type;
    bool fits = labels->rank == a->rank - 1;
    if (!attr_axis(n, "axis", a->rank, axis, &g->err))
        return false;
    for (int i = 0; fits && i < a->rank; i++)
        fits = i == *axis || a->dim[i] == labels->dim[i < *axis ? i : i - 1];
    if (!fits)
        g_fail(g, TS_BAD_INPUT, "places have another shape than the first operand without axis %d, that one expected",
               *axis);
    return fits;
}

/* The label with an axis of 1, beside the numbers along the class axis to compare it with; as i32, whose vectors are as
 * long as those of f32. Negative labels count from the end. */
static void places(graph *g, const node *call, int axis, const node **label, const node **place)
{
    const type *t = &call->in[0]->type;
    const dtype to = t->dim[axis] <= INT32_MAX ? TS_I32 : TS_I64;
    *place = g_along(g, g_count(g, t->dim[axis], to), t->rank, axis); /* [1, ..., classes, ..., 1] */
    *label = g_call1(g, "cast to=i64", beside(g, call->in[1], axis)); /* [..., 1, ...] */
    *label = g_cast(g, g_call2(g, "mod", *label, g_scalar_like(g, *label, (double)t->dim[axis])), to);
}

/* The maximum m along the axis, and log(sum(exp(x - m))): all that is kept of softmax. */
static void softmax_of(graph *g, const node *x, int axis, const node **top, const node **log_sum)
{
    *top = g_callf(g, 1, &x, "max axes=[%d] keepdims=1", axis);                        /* [..., 1, ...] */
    const node *z = g_call1(g, "exp", g_call2(g, "subtract", x, *top));                /* as x */
    *log_sum = g_call1(g, "log", g_callf(g, 1, &z, "sum axes=[%d] keepdims=1", axis)); /* [..., 1, ...] */
}

/* ---- recipes ---- */
/* a [..., class, ...] at places [..., ...], which have all axes but that one: [..., ...]. */
static const node *pick_lower(graph *g, const node *n)
{
    int axis;
    if (!pick_axis(g, n, &axis))
        return NULL;
    const node *y = g_callf(g, NODES(n->in[0], beside(g, n->in[1], axis)), "take_along_axis axis=%d", axis);
    return g_callf(g, 1, &y, "squeeze axes=[%d]", axis);
}

static const node *softmax_nll_lower(graph *g, const node *n)
{
    const node *x = n->in[0], *top, *log_sum; /* x [..., class, ...], others [..., 1, ...] */
    int axis;
    if (!pick_axis(g, n, &axis))
        return NULL;
    /* [..., 1, ...]: the logit of the label */
    const node *at = g_callf(g, NODES(x, beside(g, n->in[1], axis)), "take_along_axis axis=%d", axis);
    if (type_count(&x->type)) {
        softmax_of(g, x, axis, &top, &log_sum);
        at = g_call2(g, "subtract", log_sum, g_call2(g, "subtract", at, top));
    }
    return g_callf(g, 1, &at, "squeeze axes=[%d]", axis);
}

typedef struct labelled { /* what the losses over classes share */
    int axis;
    const node *label, *kept; /* kept: 1 where the label counts, in the dtype of the loss; NULL: everywhere */
    const node *weight;       /* of each item; NULL: 1 */
} labelled;

static bool read_labels(graph *g, const node *n, labelled *out)
{
    const node *x = n->in[0], *label = n->in[1]; /* x [..., classes, ...], label [..., ...] */
    const attr *ignore = node_attr(n, "ignore");
    *out = (labelled){.label = label};
    if (!attr_axis(n, "axis", x->type.rank, &out->axis, &g->err))
        return false;
    if (dtype_class(label->type.dtype) != D_WHOLE)
        return g_fail(g, TS_BAD_INPUT, "labels are of dtype %s, not integers", ts_dtype_name(label->type.dtype)), false;
    if (ignore->kind == 'i') {
        const node *counts = g_call2(g, "not_equal", label, g_scalar_like(g, label, (double)ignore->i));
        out->label = g_call3(g, "where", counts, label, g_scalar_like(g, label, 0));
        out->kept = g_cast(g, counts, x->type.dtype);
    }
    if (n->n_in < 3)
        return true;
    if (n->in[2]->type.rank != 1 || n->in[2]->type.dim[0] != x->type.dim[out->axis])
        return operands_refuse(n->n_in, n->in, &g->err, "as the third one weight for each of %lld classes",
                               (long long)x->type.dim[out->axis]);
    out->weight = g_call2(g, "gather", n->in[2], out->label); /* [items...] of [classes] */
    if (out->kept)
        out->weight = g_call2(g, "multiply", out->weight, out->kept);
    return true;
}

/* The mean counts items by their weight, and ignored ones not at all. */
static const node *weighed(graph *g, const node *n, const labelled *l, const node *loss)
{
    const node *total = l->weight ? l->weight : l->kept; /* as loss */
    if (l->kept)
        loss = g_call2(g, "multiply", loss, l->kept);
    if (strcmp(node_attr(n, "reduce")->s, "mean") || !total)
        return reduced(g, n, loss);
    return g_call2(g, "divide", g_call1(g, "sum", loss), g_call1(g, "sum", total));
}

/* -sum over c of q[c] w[c] log p[c], with q = 1 - smoothing at the label, plus smoothing / classes everywhere. */
static const node *cross_entropy_lower(graph *g, const node *n)
{
    const double smooth = node_real(n, "smoothing");
    labelled l;
    if (!g_takes(g, n, 2, 3) || !read_labels(g, n, &l))
        return NULL;
    if (!(smooth >= 0 && smooth <= 1))
        return g_fail(g, TS_BAD_INPUT, "smoothing: %g is not in 0...1", smooth);
    /* [items...] */
    const node *loss = g_callf(g, NODES(n->in[0], l.label), "softmax_nll axis=%d", l.axis);
    if (l.weight)
        loss = g_call2(g, "multiply", loss, l.weight);
    if (smooth > 0 && loss) {
        const node *log_p = g_callf(g, 1, &n->in[0], "log_softmax axis=%d", l.axis); /* [..., classes, ...] */
        if (l.weight)
            log_p = g_call2(g, "multiply", log_p, g_along(g, n->in[2], log_p ? log_p->type.rank : 0, l.axis));
        const node *all = g_callf(g, 1, &log_p, "mean axes=[%d]", l.axis); /* [items...] */
        loss = g_call2(g, "subtract", g_scaled(g, loss, 1 - smooth), g_scaled(g, all, smooth));
    }
    return weighed(g, n, &l, loss);
}

/* max(x, 0) - x t + log(1 + exp(-|x|)); -|x| so that the corners at 0 cancel in the gradient too, as in softplus */
static const node *bce_lower(graph *g, const node *n)
{
    return reduced(g, n, g_formula(g, 2, n->in, "max(a,0)-a*b+log1p(exp(min(-a,a)))"));
}

static const node *distance_lower(graph *g, const node *n)
{
    const char *size = strcmp(n->op->name, "mse_loss") ? "abs" : "square";
    return reduced(g, n, g_call1(g, size, g_call2(g, "subtract", n->in[0], n->in[1])));
}

static const node *huber_lower(graph *g, const node *n)
{
    const double d = node_real(n, "delta");
    const node *away = g_call2(g, "subtract", n->in[0], n->in[1]); /* as both broadcast */
    if (!(d > 0))
        return g_fail(g, TS_BAD_INPUT, "delta: %g is not positive", d);
    const char *by = arena_format(&g->mem, "select(abs(a)<%.17g,0.5*a*a,%.17g*(abs(a)-%.17g))", d, d, d / 2);
    return reduced(g, n, g_formula(g, 1, &away, by));
}

/* The mean is over items (axis 0), not over elements, as the definition of the divergence has it. */
static const node *kl_lower(graph *g, const node *n)
{
    /* t (log t - x), 0 where t is 0; x are logarithms */
    const node *each = g_formula(g, NODES(n->in[1], n->in[0]), "select(0<a,a*(log(select(0<a,a,1))-b),0)");
    const bool mean = !strcmp(node_attr(n, "reduce")->s, "mean");
    if (!mean || !each)
        return reduced(g, n, each);
    const double items = each->type.rank ? (double)each->type.dim[0] : 1;
    const node *sum = g_call1(g, "sum", each);
    return g_call2(g, "divide", sum, g_scalar_like(g, sum, items));
}

/* 1 - cos for pairs of sign 1, max(0, cos - margin) for those of sign -1. */
static const node *cosine_lower(graph *g, const node *n)
{
    const node *a = n->in[0], *b = n->in[1];
    const node *dot = g_call1(g, "sum axes=[-1]", g_call2(g, "multiply", a, b));     /* [items] */
    const node *size = g_call2(g, "multiply", g_call1(g, "sum_square axes=[-1]", a), /* [items]: |a|^2 |b|^2 */
                               g_call1(g, "sum_square axes=[-1]", b));
    const node *cos = g_formula(g, NODES(dot, size), "a/sqrt(b+1e-12)");
    const char *by = arena_format(&g->mem, "select(b>0,1-a,max(a-%.17g,0))", node_real(n, "margin"));
    return reduced(g, n, g_formula(g, NODES(cos, n->in[2]), by));
}

/* ---- grad ---- */
/* By comparing, element by element, so that it fuses with what follows; adding into places would not. */
static const node *pick_grad(graph *g, const node *call, const node *y, const node *dy, int k)
{
    int axis;
    const node *in[3];
    (void)y;
    if (k || !pick_axis(g, call, &axis))
        return NULL;
    places(g, call, axis, &in[0], &in[1]), in[2] = beside(g, dy, axis);
    return g_formula(g, 3, in, "select(eq(a,b),c,0)");
}

/* softmax less 1 at the label, in one pass: without the sum over it that log_softmax would take, which is 1. */
static const node *softmax_nll_grad(graph *g, const node *call, const node *y, const node *dy, int k)
{
    int axis;
    const node *in[6] = {call->in[0]};
    (void)y;
    if (k || !pick_axis(g, call, &axis))
        return NULL;
    softmax_of(g, in[0], axis, &in[1], &in[2]);
    in[3] = beside(g, dy, axis), places(g, call, axis, &in[4], &in[5]);
    return g_formula(g, 6, in, "exp(a-b-c)*d-select(eq(e,f),d,0)");
}

/* ---- records ---- */
#define HOW "reduce:s=mean"
static const char pairs[] = "f32[4,3] f32[4,3]\nf64[7] f64[7] reduce=sum\nf32[2,3] f32[3] reduce=none";
#define CLASSES "axis:i=-1 smoothing:f=0 ignore:i= reduce:s=mean"

const op ops_loss[] = {
    RECIPE("pick a b axis:i=-1", pick_lower,
           "np.take_along_axis(a, np.expand_dims(b, axis).astype(np.int64), axis).squeeze(axis)", NULL,
           "f32[3,5] i64[3]<5\nf64[2,4,3] i32[2,3]<4 axis=1\nf32[7] u8[]<7\nf32[0,3] i64[0]",
           "The element of the first tensor along an axis at the place that the second says.", .grad = pick_grad),
    RECIPE("softmax_nll a b axis:i=-1 -> r c", softmax_nll_lower,
           "nll(a - np.log(np.exp(a).sum(axis, keepdims=True)), b, None, axis, 0, '', 'none')", NULL,
           "f32[4,5] i64[4]<5\nf64[2,3,4] i32[2,4]<3 axis=1\nf32[9,70] u8[9]<70\nf32[0,3] i64[0]",
           "Minus the logarithm of softmax of the first tensor along an axis at the place that the second says.",
           .grad = softmax_nll_grad),
    RECIPE("cross_entropy ... " CLASSES " -> r c", cross_entropy_lower,
           "nll(a - np.log(np.exp(a).sum(axis, keepdims=True)), b, c, axis, smoothing, ignore, reduce)", NULL,
           "f32[4,5] u8[4]<5\nf64[2,3,4] u8[2,4]<3 f64[3]+ axis=1\nf32[6,3] u8[6]<3 ignore=1 reduce=sum\n"
           "f32[5,3] u8[5]<3 f32[3]+ ignore=0\nf32[4,5] u8[4]<5 reduce=none\nf64[4,5] u8[4]<5 smoothing=0.1\n"
           "f64[2,3,4] u8[2,4]<3 f64[3]+ axis=1 smoothing=0.2 ignore=2",
           "Minus the logarithm of softmax of the first tensor at the label along an axis; perhaps a weight for each "
           "class; labels may be smoothed and ignored."),
    RECIPE("binary_cross_entropy a b " HOW " -> e", bce_lower,
           "reduced(np.maximum(a, 0) - a * b + np.log1p(np.exp(-np.abs(a))), reduce)", NULL, pairs,
           "Cross-entropy of the sigmoid of the first tensor and the probability that the second says."),
    RECIPE("mse_loss a b " HOW " -> e", distance_lower, "reduced(np.square(a - b), reduce)", NULL, pairs,
           "Mean squared difference."),
    RECIPE("mae_loss a b " HOW " -> e", distance_lower, "reduced(np.abs(a - b), reduce)", NULL, pairs,
           "Mean size of the difference."),
    RECIPE("huber_loss a b delta:f=1 reduce:s=mean -> e", huber_lower,
           "reduced((lambda z: np.where(z < delta, 0.5 * z * z, delta * (z - delta / 2)))(np.abs(a - b)), reduce)",
           NULL, "f32[4,3] f32[4,3]\nf64[7] f64[7] delta=0.5 reduce=sum\nf32[2,3] f32[3] reduce=none delta=2",
           "Half the squared difference up to delta, linear beyond."),
    RECIPE("kl_div a b " HOW " -> e", kl_lower, "kl(a, b, reduce)", NULL,
           "f32[4,3] f32[4,3]+\nf64[7] f64[7]+ reduce=sum\nf32[2,3] f32[3] reduce=none",
           "Divergence of the probabilities that the second tensor says from those whose logarithms the first says."),
    RECIPE("cosine_embedding_loss a b c margin:f=0 reduce:s=mean -> r c", cosine_lower,
           "cosine(a, b, c, margin, reduce)", NULL,
           "f32[4,3] f32[4,3] f32[4]\nf64[6,7] f64[6,7] f64[6] margin=0.1 reduce=sum\n"
           "f32[2,3] f32[2,3] i64[2] reduce=none",
           "1 - cosine of pairs of rows whose sign is 1; the cosine over a margin where it is -1."),
    {0},
};
