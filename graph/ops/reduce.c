/* reduce.c - many elements to one along listed axes, or along all of them. Empty sums are 0, empty products 1,
 * empty means NaN; an empty maximum is a mistake, as in numpy. */
#include "graph/ir/rule.h"

#include <math.h>
#include <string.h>

static const char common[] =
    "f32[2,3]\nf32[2,3,4] axes=[1]\nf32[2,3,4] axes=[0,-1] keepdims=1\nf64[5,4] axes=[0]\ni32[4,3] axes=[1]\ni64[3,2]\n"
    "u8[6,2] axes=[0]\nf32[7] keepdims=1\nf32[3,0] axes=[0]\nf32[2,3] axes=[]\nf32[]\nf32[37,5] axes=[0]";
static const char extremes[] =
    "f32[2,3]\nf32[2,3,4] axes=[1]\nf32[2,3,4] axes=[0,-1] keepdims=1\nf64[5,4] axes=[0]\ni32[4,3] axes=[1]\n"
    "i64[3,2]\nu8[6,2] axes=[0]\nf32[16]!\nf64[2,9]! axes=[1]\nbool[4,3] axes=[0]\nbool[2]\n"
    "i8[5]! keepdims=1\nf32[3,0] axes=[0]\nf32[]\nu64[4]\nu64[9]!";
static const char also_empty[] =
    "f32[2,3]\nf32[2,3,4] axes=[1]\nf32[2,3,4] axes=[0,-1] keepdims=1\nf64[5,4] axes=[0]\ni32[4,3] axes=[1]\ni64[3,2]\n"
    "u8[6,2] axes=[0]\nf32[7] keepdims=1\nf32[3,0] axes=[1]\nf32[0]\nf32[2,3] axes=[]\nf32[]\nbool[4,3] "
    "axes=[0]\nf32[37,5] axes=[0]\nf32[5,0]\ni32[0,4,0] axes=[0,2]";
#define OVER "axes:I= keepdims:i=0"

/* ---- helpers: calls, for recipes everywhere ---- */
const node *g_over(graph *g, const char *op_name, const node *a, int n, const int64_t *axes)
{
    return g_apply(g, op_name, a, ATTRS(attr_int("keepdims", 1), attr_ints("axes", n, axes)));
}

/* ---- ONNX ---- */
/* The largest of nothing is the least number of the dtype; the smallest is the largest. */
static const node *extreme_of_none(const onnx_call *c, const char *op_name, int n, const attr *list)
{
    const dtype d = c->in[0]->type.dtype;
    const node *shape = g_apply(c->g, "sum", c->in[0], n, list), *y;
    const bool real = dtype_class(d) == D_REAL, low = !strcmp(op_name, "max");
    y = shape ? g_scalar(c->g, d, low ? dtype_lowest(d) : real ? INFINITY : d == TS_BOOL ? 1 : dtype_lowest(d)) : NULL;
    if (!low && dtype_class(d) == D_WHOLE) /* as a double it would be one more */
        y = g_call1(c->g, "bitwise_not", y);
    return shape ? g_broadcast(c->g, y, shape->type.rank, shape->type.dim) : NULL;
}

/* The axes are an attribute, or since 13 or 18 an operand; none at all means all, or with noop_with_empty_axes
 * nothing. The result keeps the operand's dtype, where numpy would widen small integers. */
static bool adapt(const onnx_call *c, const node **out, err *e)
{
    const char *op_name = c->op->name;
    int64_t axes[MAX_RANK];
    int n = 0;
    if (onnx_has(c, "axes", 1) && !onnx_ints(c, "axes", 1, axes, MAX_RANK, &n, e))
        return false;
    /* nothing is reduced, what is done before and after a sum still is */
    const bool none = n == 0 && onnx_int(c, "noop_with_empty_axes", 0);
    const attr list[] = {attr_int("keepdims", onnx_int(c, "keepdims", 1)), attr_ints("axes", n, axes)};
    if (type_count(&c->in[0]->type) == 0 && (!strcmp(op_name, "max") || !strcmp(op_name, "min")))
        return onnx_give(c, out, extreme_of_none(c, op_name, n || none ? 2 : 1, list), e);
    const node *y = g_apply(c->g, op_name, c->in[0], n || none ? 2 : 1, list); /* without the axes, or with 1 there */
    const dtype d = c->in[0]->type.dtype;
    y = g_cast(c->g, y, d);
    if (!strcmp(c->type, "ReduceLogSum"))
        y = g_cast(c->g, g_call1(c->g, "log", y), d);
    return onnx_give(c, out, y, e);
}

/* ---- shape ---- */
static bool reduced(const node *n, dtype d, type *out, err *e)
{
    const type *t = &n->in[0]->type;
    uint32_t set;
    if (!axes_set(node_attr(n, "axes"), t->rank, &set, e))
        return false;
    *out = (type){.dtype = d};
    for (int i = 0; i < t->rank; i++)
        if (!(set >> i & 1))
            out->dim[out->rank++] = t->dim[i];
        else if (node_int(n, "keepdims"))
            out->dim[out->rank++] = 1;
    return true;
}

static bool sum_shape(const node *n, type *out, err *e) /* numpy sums small integers as 64-bit ones */
{
    const dtype d = n->in[0]->type.dtype;
    const dtype wide = d == TS_BOOL || dtype_signed(d) ? TS_I64 : TS_U64;
    return reduced(n, dtype_class(d) == D_REAL ? d : wide, out, e);
}

static bool mean_shape(const node *n, type *out, err *e)
{
    const dtype d = n->in[0]->type.dtype;
    return reduced(n, dtype_class(d) == D_REAL ? d : TS_F64, out, e);
}

static bool extreme_shape(const node *n, type *out, err *e)
{
    const type *t = &n->in[0]->type;
    uint32_t set;
    if (!axes_set(node_attr(n, "axes"), t->rank, &set, e))
        return false;
    for (int i = 0; i < t->rank; i++)
        if (set >> i & 1 && t->dim[i] == 0)
            return err_set(e, TS_BAD_INPUT, "axis %d is empty and has no extreme element", i);
    return reduced(n, t->dtype, out, e);
}

static bool truth_shape(const node *n, type *out, err *e)
{
    return reduced(n, TS_BOOL, out, e);
}

/* ---- body ---- */
/* The operand's element over the result's axes and the folded ones, in the dtype that is folded; their set and
 * their count. */
static const expr *element(defn *d, dtype in, uint32_t *folds, int64_t *count)
{
    const type *t = &d->node->in[0]->type;
    const expr *sub[MAX_RANK];
    uint32_t set;
    int kept = 0;
    *folds = 0, *count = 1;
    MUST(axes_set(node_attr(d->node, "axes"), t->rank, &set, NULL));
    for (int i = 0; i < t->rank; i++) {
        if (!(set >> i & 1)) {
            sub[i] = x_axis(d->mem, kept++);
            continue;
        }
        const int axis = defn_fold(d, t->dim[i]);
        sub[i] = x_axis(d->mem, axis);
        *folds |= 1u << axis, *count *= t->dim[i], kept += node_int(d->node, "keepdims") != 0;
    }
    return x_cast(d->mem, in, defn_at(d, 0, sub));
}

static const expr *fold_body(defn *d)
{
    static const char *const fold[][3] = {{"sum", "add", "or"},  {"prod", "mul", "and"}, {"max", "max", "or"},
                                          {"min", "min", "and"}, {"any", "", "or"},      {"all", "", "and"}};
    uint32_t folds;
    int64_t count;
    const int i = ROW_NAMED(fold, d->node->op->name);
    const expr *x = element(d, d->node->type.dtype, &folds, &count);
    return folds ? x_fold(d->mem, fold[i][d->node->type.dtype == TS_BOOL ? 2 : 1], folds, x) : x;
}

static const expr *mean_body(defn *d)
{
    uint32_t folds;
    int64_t count;
    const expr *x = element(d, d->node->type.dtype, &folds, &count);
    return folds ? x2(d->mem, "div", x_fold(d->mem, "add", folds, x), x_real(d->mem, (double)count)) : x;
}

/* ---- recipes ---- */
/* Another reduction over n's axes. */
static const node *over_axes(graph *g, const node *n, const char *op_name, const node *x, bool keepdims)
{
    return g_apply(g, op_name, x, ATTRS(attr_int("keepdims", keepdims), *node_attr(n, "axes")));
}

static const node *over_same(graph *g, const node *n, const char *op_name, const node *x)
{
    return over_axes(g, n, op_name, x, node_int(n, "keepdims"));
}

static double rest_of(graph *g, const node *n) /* by how much var divides */
{
    const type *t = &n->in[0]->type;
    int64_t count = 1;
    uint32_t set = 0;
    if (!axes_set(node_attr(n, "axes"), t->rank, &set, &g->err))
        return 0;
    for (int i = 0; i < t->rank; i++)
        if (set >> i & 1)
            count *= t->dim[i];
    return fmax((double)count - node_real(n, "correction"), 0);
}

static const node *away(graph *g, const node *n) /* from the mean; as its operand */
{
    return g_call2(g, "subtract", n->in[0], over_axes(g, n, "mean", n->in[0], true));
}

static const node *var_lower(graph *g, const node *n)
{
    const node *sum = over_same(g, n, "sum", g_call1(g, "square", away(g, n))); /* as n */
    return g_call2(g, "divide", sum, g_scalar_like(g, sum, rest_of(g, n)));
}

/* A reduction with the same attributes, between two functions that may be missing. */
static const node *chain_lower(graph *g, const node *n)
{
    static const struct {
        const char *name, *before, *fold, *behind;
        int n_attr;
    } chains[] = {{"std", NULL, "var", "sqrt", 3},
                  {"norm1", "abs", "sum", NULL, 2},
                  {"norm2", NULL, "sum_square", "sqrt", 2},
                  {"sum_square", "square", "sum", NULL, 2}};
    const int i = ROW_NAMED(chains, n->op->name);
    const node *x = chains[i].before ? g_call1(g, chains[i].before, n->in[0]) : n->in[0];
    x = g_apply(g, chains[i].fold, x, chains[i].n_attr, n->attr);
    return chains[i].behind ? g_call1(g, chains[i].behind, x) : x;
}

/* log(sum(exp(x - m))) + m is the same for every m; the maximum keeps exp in range, 0 stands in where that is
 * infinite. top, sum and y have 1 at the axes that are folded. */
static const node *logsumexp_lower(graph *g, const node *n)
{
    if (type_count(&n->in[0]->type) == 0)
        return g_call1(g, "log", over_same(g, n, "sum", g_call1(g, "exp", n->in[0])));
    const node *x = n->in[0], *top;
    if (dtype_class(x->type.dtype) != D_REAL)
        x = g_cast(g, x, TS_F64); /* a difference may be below 0 */
    top = over_axes(g, n, "max", x, true);
    top = g_call3(g, "where", g_call1(g, "isinf", top), g_scalar_like(g, top, 0), top);
    /* [..., 1 at the axes, ...] */
    const node *sum = over_axes(g, n, "sum", g_call1(g, "exp", g_call2(g, "subtract", x, top)), true);
    const node *y = g_call2(g, "add", g_call1(g, "log", sum), top); /* [..., 1 at the axes, ...] */
    if (node_int(n, "keepdims"))
        return y;
    const attr axes = *node_attr(n, "axes");
    if (axes.kind != '-')
        return g_apply(g, "squeeze", y, 1, &axes);
    return g_reshape(g, y, 0, NULL);
}

/* ---- grad ---- */
static const node *kept(graph *g, const node *call, const node *y) /* with the reduced axes as 1 */
{
    type t = call->in[0]->type;
    uint32_t set;
    if (!axes_set(node_attr(call, "axes"), t.rank, &set, &g->err))
        return NULL;
    for (int i = 0; i < t.rank; i++)
        t.dim[i] = set >> i & 1 ? 1 : t.dim[i];
    return y->type.rank == t.rank ? y : g_reshape(g, y, t.rank, t.dim);
}

static const node *sum_grad(graph *g, const node *call, const node *y, const node *dy, int k)
{
    (void)y, (void)k;
    return kept(g, call, dy);
}

static const node *mean_grad(graph *g, const node *call, const node *y, const node *dy, int k)
{
    (void)k;
    const double part = (double)type_count(&y->type) / (double)type_count(&call->in[0]->type);
    return g_call2(g, "multiply", kept(g, call, dy), g_scalar_like(g, dy, part));
}

/* dy * softmax; derived from the recipe it would also pass through the maximum, which cancels out. */
static const node *logsumexp_grad(graph *g, const node *call, const node *y, const node *dy, int k)
{
    const node *share = g_call1(g, "exp", g_call2(g, "subtract", call->in[k], kept(g, call, y))); /* as the operand */
    return g_call2(g, "multiply", kept(g, call, dy), share);
}

/* y = sqrt(sum of x^2 / count): x dy / (count y), and 0 where y is: no direction is steeper than its opposite. */
static const node *root_grad(graph *g, const node *call, const node *x, double count, const node *y, const node *dy)
{
    /* [..., 1 at the axes, ...] */
    const node *part = g_formula(g, NODES(kept(g, call, y), kept(g, call, dy)), "select(eq(a,0),0,b/a)");
    return g_call2(g, "multiply", x, count == 1 ? part : g_call2(g, "divide", part, g_scalar_like(g, part, count)));
}

static const node *norm2_grad(graph *g, const node *call, const node *y, const node *dy, int k)
{
    return root_grad(g, call, call->in[k], 1, y, dy);
}

static const node *std_grad(graph *g, const node *call, const node *y, const node *dy, int k)
{
    (void)k;
    return root_grad(g, call, away(g, call), rest_of(g, call), y, dy);
}

/* ---- records ---- */
#define TAKES "1..2 axes keepdims noop_with_empty_axes"
#define BACK "a^ %axes keepdims=keepdims noop_with_empty_axes:1"
#define SPREAD "axes:I= keepdims:i=0 correction:f=0"
static const char spread_cases[] =
    "f32[2,3]\nf32[2,3,4] axes=[1]\nf64[5,4] axes=[0] correction=1\ni32[4,3] axes=[1]\nf32[7] keepdims=1\n"
    "f64[2,3,4] axes=[0,-1]\nf32[3,0] axes=[0]\nf32[1] correction=1";

const op ops_reduce[] = {
    BODY("sum a " OVER " -> r | c", fold_body, "a.sum(axis=axes, keepdims=bool(keepdims))", NULL, also_empty,
         "Sum over axes.", .adapted = ADAPTED({"ReduceSum 1 ni " TAKES, adapt}, {"ReduceLogSum 1 ni " TAKES, adapt}),
         .back = "ReduceSum " BACK, .shape = sum_shape, .grad = sum_grad),
    BODY("mean a " OVER " -> r | c", mean_body, "a.mean(axis=axes, keepdims=bool(keepdims))", NULL, also_empty,
         "Mean over axes.", .adapted = ADAPTED({"ReduceMean 1 ni " TAKES, adapt}), .back = "ReduceMean " BACK,
         .shape = mean_shape, .grad = mean_grad),
    BODY("prod a " OVER " -> r | c", fold_body, "a.prod(axis=axes, keepdims=bool(keepdims))", NULL, also_empty,
         "Product over axes.", .adapted = ADAPTED({"ReduceProd 1 ni " TAKES, adapt}), .back = "ReduceProd " BACK,
         .shape = sum_shape),
    BODY("max a " OVER " -> r | c", fold_body, "a.max(axis=axes, keepdims=bool(keepdims))", NULL, extremes,
         "Largest element over axes; NaN if there is one.", .adapted = ADAPTED({"ReduceMax 1 .i " TAKES, adapt}),
         .back = "ReduceMax " BACK, .shape = extreme_shape),
    BODY("min a " OVER " -> r | c", fold_body, "a.min(axis=axes, keepdims=bool(keepdims))", NULL, extremes,
         "Smallest element over axes; NaN if there is one.", .adapted = ADAPTED({"ReduceMin 1 .i " TAKES, adapt}),
         .back = "ReduceMin " BACK, .shape = extreme_shape),
    BODY("any a " OVER " -> r | c", fold_body, "a.any(axis=axes, keepdims=bool(keepdims))", NULL, also_empty,
         "Whether an element over axes is true.", .shape = truth_shape),
    BODY("all a " OVER " -> r | c", fold_body, "a.all(axis=axes, keepdims=bool(keepdims))", NULL, also_empty,
         "Whether all elements over axes are true.", .shape = truth_shape),
    RECIPE("var a " SPREAD " -> r | c", var_lower, "a.var(axis=axes, keepdims=bool(keepdims), ddof=correction)", NULL,
           spread_cases, "Mean squared distance from the mean over axes; correction is taken off the count."),
    RECIPE("std a " SPREAD " -> r | c", chain_lower, "a.std(axis=axes, keepdims=bool(keepdims), ddof=correction)", NULL,
           spread_cases, "Square root of the variance over axes.", .grad = std_grad),
    RECIPE("norm1 a " OVER " -> r | c", chain_lower, "np.abs(a).sum(axis=axes, keepdims=bool(keepdims))", NULL, common,
           "Sum of sizes over axes.", .adapted = ADAPTED({"ReduceL1 1 ni " TAKES, adapt})),
    RECIPE("norm2 a " OVER " -> r | c", chain_lower, "np.sqrt(np.square(a).sum(axis=axes, keepdims=bool(keepdims)))",
           NULL, common, "Square root of the sum of squares over axes.",
           .adapted = ADAPTED({"ReduceL2 1 ni " TAKES, adapt}), .grad = norm2_grad),
    RECIPE("sum_square a " OVER " -> r | c", chain_lower, "np.square(a).sum(axis=axes, keepdims=bool(keepdims))", NULL,
           common, "Sum of squares over axes.", .adapted = ADAPTED({"ReduceSumSquare 1 ni " TAKES, adapt})),
    RECIPE("logsumexp a " OVER " -> r | c", logsumexp_lower,
           "np.log(np.exp(a).sum(axis=axes, keepdims=bool(keepdims)))", NULL,
           "f32[2,3]\nf32[2,3,4] axes=[1]\nf32[2,3,4] axes=[0,-1] keepdims=1\nf64[5,4] axes=[0]\n"
           "f32[7] keepdims=1\nf32[3,0] axes=[0]\nf32[3,0] axes=[1]\nf32[]\nu32[2,3] axes=[1]\ni64[7]",
           "Logarithm of the sum of exponentials over axes, without overflow.",
           .adapted = ADAPTED({"ReduceLogSumExp 1 ni " TAKES, adapt}), .grad = logsumexp_grad),
    {0},
};
