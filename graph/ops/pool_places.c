/* pool_places.c - where a pooled maximum came from, the way back, and windows that fold into a norm or back into an
 * image. */
#include "graph/ops/window.h"

/* ---- ONNX ---- */
static bool adapt_lp_pool(const onnx_call *c, const node **out, err *e)
{
    attr list[5];
    if (!window_adapt_pool(c, list, e))
        return false;
    return onnx_give(c, out, onnx_made(c, 1, c->in, COUNT(list), list), e);
}

/* x [batch, channel, space...] -> [batch, channel, 1...] */
static bool adapt_global_lp(const onnx_call *c, const node **out, err *e)
{
    int64_t axes[MAX_RANK];
    graph *g = c->g;
    const node *x = c->in[0];
    const double p = onnx_own_real(c, "p");
    int n = 0;
    for (int i = 2; i < x->type.rank; i++)
        axes[n++] = i;
    const node *size = g_call2(g, "power", g_call1(g, "abs", x), g_scalar_like(g, x, p));
    const node *sum = g_over(g, "sum", size, n, axes);
    return onnx_give(c, out, g_call2(g, "power", sum, g_scalar_like(g, sum, 1 / p)), e);
}

/* The extents that pooling had, unless given: (in - 1) * stride + kernel - pads. */
static bool unpooled(const onnx_call *c, int64_t *shape, err *e)
{
    const type *t = &c->in[0]->type;
    attr list[5];
    if (!window_adapt_pool(c, list, e))
        return false;
    const int n = list[3].n;
    for (int i = 0; i < t->rank; i++) {
        const int s = i - 2;
        shape[i] = t->dim[i];
        if (s >= 0 && (!int_mul(t->dim[i] - 1, list[0].ints[s], &shape[i]) || shape[i] > INT64_MAX / 2))
            return err_set(e, TS_BAD_INPUT,
                           "MaxUnpool: %lld places of axis %d, %lld apart; at most 2^62 elements expected",
                           (long long)t->dim[i], i, (long long)list[0].ints[s]);
        if (s >= 0)
            shape[i] += list[3].ints[s] - list[2].ints[s] - list[2].ints[s + n];
    }
    return true;
}

/* Values and their places, both [batch, channel, space...]; zeros and y are flat until reshaped. Places count elements
 * of the pooled tensor. A given output shape may be larger: new elements are at the end of each axis. */
static bool adapt_max_unpool(const onnx_call *c, const node **out, err *e)
{
    int64_t shape[MAX_RANK], want[MAX_RANK], pads[2 * MAX_RANK] = {0}, all = 1;
    int n;
    if (!unpooled(c, shape, e))
        return false;
    graph *g = c->g;
    const type *t = &c->in[0]->type;
    for (int i = 0; i < t->rank; i++)
        if (shape[i] < 0 || !int_mul(all, shape[i], &all))
            return err_set(e, TS_BAD_INPUT,
                           "MaxUnpool: axis %d would have the extent %lld, 0 or more expected, and "
                           "fewer than 2^63 elements",
                           i, (long long)shape[i]);
    const node *zeros = g_broadcast(g, g_scalar_like(g, c->in[0], 0), 1, &all);
    const node *in[] = {zeros, g_reshape(g, c->in[1], 1, (int64_t[]){-1}), g_reshape(g, c->in[0], 1, (int64_t[]){-1})};
    const node *y = g_reshape(g, g_callf(g, 3, in, "put_along_axis axis=0"), t->rank, shape);
    if (!onnx_in(c, 2))
        return onnx_give(c, out, y, e);
    if (!onnx_ints(c, "", 2, want, MAX_RANK, &n, e))
        return false;
    if (n != t->rank)
        return err_set(e, TS_BAD_INPUT,
                       "MaxUnpool: output_shape has %d numbers for rank %d, one for each axis expected", n, t->rank);
    for (int i = 0; i < n; i++)
        pads[n + i] = want[i] - shape[i];
    return onnx_give(c, out, g_apply(g, "pad", y, ATTRS(attr_ints("pads", 2 * n, pads))), e);
}

/* ---- shape ---- */
static bool lp_shape(const node *n, type *out, err *e)
{
    window w;
    *out = n->in[0]->type;
    if (!window_kernel(n, &w, e))
        return false;
    if (dtype_class(out->dtype) != D_REAL || !(node_real(n, "p") > 0))
        return err_set(e, TS_BAD_INPUT, "p: %g of dtype %s, more than 0 of reals expected", node_real(n, "p"),
                       ts_dtype_name(out->dtype));
    for (int s = 0; s < w.n; s++)
        out->dim[s + 2] = w.out[s];
    return true;
}

static bool places_shape(const node *n, type *out, err *e)
{
    window w;
    if (!window_kernel(n, &w, e))
        return false;
    *out = n->in[1]->type, out->dtype = TS_I64;
    bool same = out->rank == w.n + 2;
    for (int s = 0; same && s < w.n; s++)
        same = out->dim[s + 2] == w.out[s];
    return same || operands_refuse(2, n->in, e, "as the second what pooling the first one gives");
}

/* ---- body ---- */
/* y = (sum over the window of |x|^p)^(1/p) */
static const expr *lp_body(defn *d)
{
    arena *mem = d->mem;
    const double p = node_real(d->node, "p");
    const expr *at[MAX_RANK];
    uint32_t folds;
    window w;
    if (!window_kernel(d->node, &w, d->err))
        return NULL;
    const expr *inside = window_element(d, &w, at, &folds), *x = defn_at(d, 0, at);
    if (inside)
        x = x3(mem, "select", inside, x, x_whole(mem, 0));
    x = p == 2 ? x2(mem, "mul", x, x) : x1(mem, "abs", x);
    if (p != 1 && p != 2)
        x = x2(mem, "pow", x, x_real(mem, p));
    const expr *sum = x_fold(mem, "add", folds, x);
    return p == 1 ? sum : p == 2 ? x1(mem, "sqrt", sum) : x2(mem, "pow", sum, x_real(mem, 1 / p));
}

/* Row by row, or with the first spatial axis running fastest */
static const expr *number_of(arena *mem, const type *t, const expr *const *at, bool columns)
{
    const expr *number = x_whole(mem, 0);
    for (int s = 2; s < t->rank; s++) {
        const int axis = columns ? t->rank + 1 - s : s;
        number = x2(mem, "add", x_offset(mem, number, t->dim[axis], 0), at[axis]);
    }
    return number;
}

/* y = the place of the window's maximum, the first one row by row. columns=1 changes how places are numbered, not which
 * is taken: both numbers are packed into one. */
static const expr *places_body(defn *d)
{
    arena *mem = d->mem;
    const type *t = &d->node->in[0]->type;
    const bool columns = node_int(d->node, "columns");
    const expr *at[MAX_RANK];
    uint32_t folds;
    window w;
    int64_t area = 1;
    if (!window_kernel(d->node, &w, d->err))
        return NULL;
    for (int s = 2; s < t->rank; s++)
        area *= t->dim[s];
    const expr *inside = window_element(d, &w, at, &folds), *x = defn_at(d, 0, at);
    const expr *number = number_of(mem, t, at, false);
    const expr *found = x2(mem, "eq", x, defn_in(d, 1)),
               *plane = x2(mem, "add", x_offset(mem, at[0], t->dim[1], 0), at[1]);
    if (inside)
        found = x3(mem, "select", inside, found, x_whole(mem, 0));
    if (columns)
        number = x2(mem, "add", x_offset(mem, number, area, 0), number_of(mem, t, at, true));
    number = x_fold(mem, "min", folds, x3(mem, "select", found, number, x_whole(mem, INT64_MAX)));
    if (columns)
        number = x2(mem, "mod", number, x_whole(mem, area ? area : 1));
    return x2(mem, "add", x_offset(mem, plane, area, 0), number);
}

/* ---- records ---- */
const op ops_pool_places[] = {
    BODY("lp_pool a kernel:I strides:I= dilations:I= pads:I= ceil_mode:i=0 p:f=2 -> n c oh ow | kh kw", lp_body,
         "(np.abs(windows(a, kernel, strides, dilations, pads, ceil_mode, 0)) ** p).sum(axis=tuple(range(a.ndim, "
         "2 * a.ndim - 2))) ** (1 / p)",
         NULL,
         "f32[1,3,7,9] kernel=[2,2]\nf32[1,3,7,9] kernel=[3,3] strides=[2,2] pads=[1,1,1,1] p=3\n"
         "f32[2,2,9] kernel=[3] p=1 ceil_mode=1 strides=[2]\nf32[2,2,2] kernel=[2] dilations=[2] strides=[2] "
         "ceil_mode=1\nf64[1,1,4,5,4] kernel=[2,2,3]\nf32[1,2,8,8] kernel=[3,2] dilations=[2,3]",
         "Root of the sum of powers of every window.",
         .adapted = ADAPTED({"LpPool 1 f 1 auto_pad ceil_mode dilations kernel_shape p pads strides", adapt_lp_pool},
                            {"GlobalLpPool 1 f 1 p", adapt_global_lp},
                            {"MaxUnpool 9 fI 2..3 kernel_shape pads strides", adapt_max_unpool}),
         .onnx_cases =
             "LpPool f32[1,2,6] kernel_shape=[2]\nGlobalLpPool f32[1,2,6]\nMaxUnpool f32[1,1,2,2] i64[1,1,2,2] "
             "kernel_shape=[2,2] strides=[2,2]",
         .shape = lp_shape),
    BODY("pool_places a b kernel:I strides:I= dilations:I= pads:I= ceil_mode:i=0 columns:i=0 -> n c oh ow | kh kw",
         places_body, "pool_places(a, b, kernel, strides, dilations, pads, ceil_mode, columns)", NULL,
         "f32[1,2,4,4]=1 f32[1,2,2,2]=1 kernel=[2,2] strides=[2,2]\nu8[1,2,4,5]=3 u8[1,2,4,5]=3 kernel=[3,3] "
         "pads=[1,1,1,1]\nf32[2,2,5]=1 f32[2,2,4]=1 kernel=[2]\nf32[1,2,4,5]=1 f32[1,2,3,4]=1 kernel=[2,2] "
         "columns=1\nu8[1,2,3,4,2]=1 u8[1,2,2,3,1]=1 kernel=[2,2,2] columns=1",
         "Number of the first element of every window of the first operand that equals the second, its maximum.",
         .shape = places_shape),
    {0},
};
