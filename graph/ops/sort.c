/* sort.c - orders: by a routine that works on keys of a few dtypes; the others become those first. Equal elements keep
 * the order of their places. NaN comes last, or, descending, first. */
#include "graph/eval/eval.h"
#include "graph/ir/rule.h"

/* ---- helpers ---- */
extern routine_code routine_argsort;

const node *g_keys(graph *g, const node *x)
{
    const dtype d = x->type.dtype;
    const bool is_key = d == TS_F32 || d == TS_F64 || d == TS_I64 || d == TS_U64 || d == TS_BOOL;
    const char *to = is_key ? NULL : dtype_class(d) == D_REAL ? "f32" : "i64";
    return to ? g_apply(g, "cast", x, ATTRS(attr_word("to", to))) : x;
}

static const node *order(graph *g, const node *x, int64_t axis, bool descending, int64_t count)
{
    if (!x)
        return NULL;
    return g_callf(g, NODES(g_keys(g, x)), "order axis=%lld descending=%d count=%lld", (long long)axis, descending,
                   (long long)count);
}

static const node *taken(graph *g, const node *x, const node *places, int64_t axis)
{
    return g_callf(g, NODES(x, places), "take_along_axis axis=%lld", (long long)axis);
}

/* ---- ONNX ---- */
static bool adapt_top_k(const onnx_call *c, const node **out, err *e)
{
    const int64_t largest = onnx_own_int(c, "largest");
    int64_t k;
    int axis, n;
    if (!axis_norm(onnx_own_int(c, "axis"), c->in[0]->type.rank, &axis, e) || !onnx_ints(c, "k", 1, &k, 1, &n, e))
        return false;
    if (n != 1)
        return err_set(e, TS_BAD_INPUT, "TopK: k has %d numbers, one expected", n);
    if (k < 0)
        return err_set(e, TS_BAD_INPUT, "TopK: k is %lld, expected 0 or more", (long long)k);
    const node *places = order(c->g, c->in[0], axis, largest, k); /* as in[0], with k at the axis */
    return onnx_give_all(c, out, NODES(taken(c->g, c->in[0], places, axis), places), e);
}

static bool adapt_nonzero(const onnx_call *c, const node **out, err *e)
{
    if (c->in[0]->type.rank > 0)
        return onnx_give(c, out, g_call1(c->g, "nonzero", c->in[0]), e);
    /* a scalar's place has no coordinates: [0, 1] or [0, 0] */
    const node *row = g_call1(c->g, "nonzero", g_reshape(c->g, c->in[0], 1, (int64_t[]){1}));
    const long long found = row ? row->type.dim[1] : 0;
    return onnx_give(c, out, g_callf(c->g, 1, &row, "slice starts=[0,0] sizes=[0,%lld]", found), e);
}

static bool adapt_compress(const onnx_call *c, const node **out, err *e)
{
    const node *x = c->in[0], *places = g_call1(c->g, "nonzero", c->in[1]); /* x any or [n], places [1, count] */
    int64_t axis = 0;
    if (onnx_attr(c, "axis"))
        axis = onnx_int(c, "axis", 0);
    else
        x = g_callf(c->g, 1, &x, "reshape shape=[%lld]", (long long)type_count(&x->type));
    places = g_callf(c->g, 1, &places, "reshape shape=[-1]"); /* [count] */
    return onnx_give(c, out, g_callf(c->g, NODES(x, places), "gather axis=%lld", (long long)axis), e);
}

/* ---- shape ---- */
static bool order_shape(const node *n, type *out, err *e)
{
    const int64_t count = node_int(n, "count");
    const dtype d = n->in[0]->type.dtype;
    int axis;
    *out = n->in[0]->type, out->dtype = TS_I64;
    if (!attr_axis(n, "axis", out->rank, &axis, e))
        return false;
    if (d != TS_F32 && d != TS_F64 && d != TS_I64 && d != TS_U64 && d != TS_BOOL)
        return err_set(e, TS_BAD_INPUT, "%s is no dtype of keys: f32, f64, i64, u64, bool are", ts_dtype_name(d));
    if (count < -1 || count > out->dim[axis])
        return err_set(e, TS_BAD_INPUT, "count: %lld of %lld elements, at most all of them expected, or -1 for all",
                       (long long)count, (long long)out->dim[axis]);
    if (count >= 0)
        out->dim[axis] = count;
    return true;
}

/* ---- body ---- */
static const expr *order_body(defn *d)
{
    const type *t = &d->node->in[0]->type;
    int64_t outer = 1, inner = 1;
    const int axis = defn_axis(d, t->rank);
    for (int i = 0; i < t->rank; i++)
        outer *= i < axis ? t->dim[i] : 1, inner *= i > axis ? t->dim[i] : 1;
    const int64_t parameter[] = {outer, t->dim[axis], inner, d->node->type.dim[axis], node_int(d->node, "descending")};
    return defn_routine(d, &(routine){"argsort", routine_argsort, COUNT(parameter), parameter,
                                      .scratch = 32 * t->dim[axis], .sets = true});
}

/* ---- recipes ---- */
static const node *argsort_lower(graph *g, const node *n)
{
    return order(g, n->in[0], node_int(n, "axis"), node_int(n, "descending"), -1);
}

static const node *sort_lower(graph *g, const node *n)
{
    return taken(g, n->in[0], argsort_lower(g, n), node_int(n, "axis"));
}

static const node *top_k_lower(graph *g, const node *n)
{
    const int64_t axis = node_int(n, "axis");
    return taken(g, n->in[0], order(g, n->in[0], axis, node_int(n, "largest"), node_int(n, "k")), axis);
}

/* The places of true elements in a flat view come first in the order of truth; their count is the result's extent:
 * x [elements], flat [count], row[i], their subscripts of axis i, [count] -> [rank, count]. */
static const node *nonzero_lower(graph *g, const node *n)
{
    const node *x = n->in[0];
    const type *t = &x->type;
    const node *row[MAX_RANK];
    if (t->rank == 0)
        return g_refuse(g, 1, n->in, "a tensor of one axis or more");
    x = g_call2(g, "not_equal", x, g_scalar(g, t->dtype, 0));
    x = g_callf(g, 1, &x, "reshape shape=[%lld]", (long long)type_count(t)); /* [elements] */
    const node *total = g_call1(g, "sum", x);                                /* [] */
    const ts_array *count = total ? g_needed(g, total) : NULL;
    if (!count)
        return g_wait(g, &g->err,
                      "how many elements are not zero is the result's extent, but follows from values "
                      "known only at run time"),
               NULL;
    const node *flat = order(g, x, 0, true, load_whole(count->dtype, count->data, 0)); /* [count] */
    for (int i = t->rank; i-- > 0;) {
        const node *extent = g_scalar(g, TS_I64, (double)(t->dim[i] > 0 ? t->dim[i] : 1));
        row[i] = g_call2(g, "mod", flat, extent); /* [count] */
        flat = g_call2(g, "floor_divide", flat, extent);
    }
    return g_call(g, "stack axis=0", t->rank, row);
}

/* ---- records ---- */
#define ALONG "axis:i=-1 descending:i=0"
static const char cases[] = "f32[3,70]\nf32[3,20]!\ni64[40,3] axis=0\nu8[2,30,2] axis=1 descending=1\nbool[9]\nf16[17] "
                            "descending=1\nu64[9]! descending=1\nu64[12]!\ni8[20]!\nf64[2,17]! axis=1 descending=1\n"
                            "f32[0,4] axis=0\nf32[1]";

const op ops_sort[] = {
    BODY("order a axis:i=-1 descending:i=0 count:i=-1 -> c", order_body, "order(a, axis, descending, count)", NULL,
         "f32[3,70] count=5\nf64[3,20]! descending=1\ni64[40,3] axis=0\nbool[2,9,2] axis=1 count=3 "
         "descending=1\nf32[4] count=0",
         "Places along an axis in the order of their elements, of keys; the first `count` of them.",
         .shape = order_shape),
    RECIPE("argsort a " ALONG " -> c", argsort_lower, "order(a, axis, descending, -1)", NULL, cases,
           "Places along an axis in the order of their elements."),
    RECIPE("sort a " ALONG " -> c", sort_lower, "np.take_along_axis(a, order(a, axis, descending, -1), axis)", NULL,
           cases, "Elements along an axis in order."),
    RECIPE("top_k a k:i axis:i=-1 largest:i=1 -> c", top_k_lower,
           "np.take_along_axis(a, order(a, axis, largest, k), axis)", NULL,
           "f32[3,70] k=5\ni32[40,3] axis=0 k=7 largest=0\nf32[2,3]! k=3\nu64[9]! k=2\nf32[4] k=0",
           "The k largest elements along an axis, descending, or the k smallest, ascending.",
           .adapted = ADAPTED({"TopK 1 ni 1..2 >2 axis k largest sorted", adapt_top_k})),
    RECIPE("nonzero a -> r c", nonzero_lower, "np.array(np.nonzero(a))", NULL, "f32[3,4]=1\ni64[5]=0\nbool[2,3,2]=1",
           "The places of elements that are not zero, a column each; of a constant.",
           .adapted = ADAPTED({"NonZero 9 - 1", adapt_nonzero}, {"Compress 9 .b 2 axis", adapt_compress}),
           .onnx_cases = "Compress f32[4] bool[4]=1"),
    {0},
};
