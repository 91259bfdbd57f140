/* unique.c - the different elements of a tensor, or its different parts along an axis. How many there are is an
 * extent, so the operand's value has to be known while the graph is built. Every NaN counts as the same. */
#include "graph/ir/rule.h"

/* ---- helpers ---- */
extern routine_code routine_rows;

typedef struct uniques { /* u of n parts; NULL after a failure, which g has */
    const node *first;   /* [u]: the place of each one's first occurrence */
    const node *number;  /* [n]: which one each part is */
    const node *count;   /* [u] */
} uniques;

/* x [n, m]: whether each row is another one than the row before it. */
static const node *new_rows(graph *g, const node *x)
{
    const unsigned char yes = 1;
    const int64_t n = x ? x->type.dim[0] : 0;
    const node *begin = g_const(g, "", &(type){.dtype = TS_BOOL, .rank = 1, .dim = {1}}, &yes); /* [1] */
    const node *before = g_part(g, x, 0, 0, n - 1), *after = g_part(g, x, 0, 1, n - 1); /* [n - 1, m], as both */
    const node *both = g_call2(g, "logical_and", g_call1(g, "isnan", before), g_call1(g, "isnan", after));
    const node *differs = g_call2(g, "logical_and", g_call2(g, "not_equal", before, after),
                                  g_call1(g, "logical_not", both)); /* [n - 1, m] */
    return g_call2(g, "concat axis=0", begin, g_call1(g, "any axes=[1]", differs));
}

static const node *taken(graph *g, const node *x, const node *places) /* [n, ...], [u] -> [u, ...] */
{
    return g_call2(g, "gather axis=0", x, places);
}

/* In the order of their values, or of their first occurrence. x [n, m]; is_new [n], starts [1, u] of nonzero. */
static uniques find(graph *g, const node *x, bool sorted)
{
    const int64_t n = x->type.dim[0];
    const type places = {.dtype = TS_I64, .rank = 1, .dim = {n}};
    const node *order = g_call1(g, "row_order", g_keys(g, x)); /* [n] */
    if (!order || n == 0)
        return (uniques){order, order, order};
    const node *is_new = new_rows(g, taken(g, x, order)), *starts = g_call1(g, "nonzero", is_new);
    if (!starts)
        return (uniques){0};
    const int64_t u = starts->type.dim[1];
    starts = g_reshape(g, starts, 1, &u);                                                             /* [u] */
    const node *ends = g_call2(g, "concat axis=0", g_part(g, starts, 0, 1, u - 1), g_ints(g, 1, &n)); /* [u] */
    const node *number = g_call2(g, "subtract", g_call1(g, "cumsum axis=0", g_cast(g, is_new, TS_I64)),
                                 g_scalar(g, TS_I64, 1)); /* [n] */
    uniques y = {taken(g, order, starts), g_call3(g, "scatter axis=0", g_filled(g, &places, 0), order, number),
                 g_call2(g, "subtract", ends, starts)};
    if (sorted || !y.first)
        return y;
    const node *turn = g_call1(g, "argsort", y.first); /* [u] */
    return (uniques){taken(g, y.first, turn), taken(g, g_call1(g, "argsort", turn), y.number), taken(g, y.count, turn)};
}

/* The parts of x along an axis, or its elements where there is none, as rows [n, m]. */
static const node *rows_of(graph *g, const node *x, const attr *axis)
{
    const type *t = &x->type;
    int64_t order[MAX_RANK], shape[] = {type_count(t), 1};
    int at;
    if (axis->kind == '-')
        return g_reshape(g, x, 2, shape);
    if (!axis_norm(axis->i, t->rank, &at, &g->err))
        return NULL;
    order[0] = at, shape[0] = t->dim[at];
    for (int i = 0, k = 1; i < t->rank; i++)
        if (i != at)
            order[k++] = i, shape[1] *= t->dim[i];
    return g_reshape(g, g_transpose(g, x, t->rank, order), 2, shape);
}

/* first [u]; the parts there: [u] of elements, else with u at the axis */
static const node *values(graph *g, const node *x, const attr *axis, const node *first)
{
    const int64_t n = type_count(&x->type);
    return axis->kind == '-' ? taken(g, g_reshape(g, x, 1, &n), first)
                             : g_callf(g, NODES(x, first), "gather axis=%lld", (long long)axis->i);
}

/* ---- ONNX ---- */
static bool adapt_unique(const onnx_call *c, const node **out, err *e)
{
    const attr *given = onnx_attr(c, "axis"), none = {.kind = '-'}, *axis = given ? given : &none;
    const node *x = rows_of(c->g, c->in[0], axis); /* [n, m] */
    const uniques y = x ? find(c->g, x, onnx_own_int(c, "sorted")) : (uniques){0};
    const node *all = y.first ? values(c->g, c->in[0], axis, y.first) : NULL;
    return onnx_give_all(c, out, NODES(all, y.first, y.number, y.count), e);
}

/* ---- shape, body ---- */
static bool order_shape(const node *n, type *out, err *e)
{
    const type *t = &n->in[0]->type;
    const dtype d = t->dtype;
    *out = (type){.dtype = TS_I64, .rank = 1, .dim = {t->dim[0]}};
    if (t->rank != 2 || (d != TS_F32 && d != TS_F64 && d != TS_I64 && d != TS_U64 && d != TS_BOOL))
        return err_set(e, TS_BAD_INPUT, "rows are [n, m] of f32, f64, i64, u64 or bool, not %s of rank %d",
                       ts_dtype_name(d), t->rank);
    return true;
}

static const expr *order_body(defn *d)
{
    const type *t = &d->node->in[0]->type;
    const int64_t parameter[] = {t->dim[0], t->dim[1]};
    return defn_routine(d, &(routine){"rows", routine_rows, COUNT(parameter), parameter, .scratch = 16 * t->dim[0]});
}

/* ---- recipes ---- */
static const node *unique_lower(graph *g, const node *n)
{
    const attr *axis = node_attr(n, "axis");
    const node *x = rows_of(g, n->in[0], axis);
    const uniques y = x ? find(g, x, node_int(n, "sorted")) : (uniques){0};
    return y.first ? values(g, n->in[0], axis, y.first) : NULL;
}

/* ---- records ---- */
const op ops_unique[] = {
    BODY("row_order a -> r", order_body, "np.lexsort(a.T[::-1]) if a.shape[1] else np.arange(len(a))", NULL,
         "f32[70,2]\ni64[60,3]<3\nf64[9,1]!\nbool[9,3]\nu64[20,1]!\nf32[0,3]\nf32[4,0]\nf32[1,2]",
         "The places of rows in the order of their values, the first elements counting most.", .shape = order_shape),
    RECIPE("unique a axis:i= sorted:i=1 -> r", unique_lower, "np.unique(a, axis=axis)", NULL,
           "f32[3,4]=1\ni64[3,2,2]=0 axis=1\nbool[2,3]=1 axis=-1 sorted=0\nf64[1]=2\nu8[0]=1",
           "The different elements of a constant, or its different parts along an axis.",
           .adapted = ADAPTED({"Unique 11 - 1 >4 axis sorted", adapt_unique}), .onnx_cases = "Unique f32[4]*=1"),
    {0},
};
