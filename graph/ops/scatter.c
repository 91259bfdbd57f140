/* scatter.c - writing where another tensor says: the opposites of gather.c, and their gradients. Updates meet in index
 * order: of several that are set at one place the last one stays. Negative places count from the end; places outside
 * are refused when met. */
#include "graph/ir/rule.h"

#include <string.h>

/* ---- helpers ---- */
static const struct {
    const char *name, *fn, *truth; /* truth: for dtype bool, as numpy adds and multiplies them */
} kinds[] = {
    {"set", NULL, NULL}, {"add", "add", "or"}, {"mul", "mul", "and"}, {"max", "max", "or"}, {"min", "min", "and"}};

static bool scatter_start(const node *n, type *out, err *e) /* what all of them check */
{
    const type *y = &n->in[0]->type, *places = &n->in[1]->type, *x = &n->in[2]->type;
    const char *how = node_attr(n, "reduce")->s;
    *out = *y;
    if (ROW_NAMED(kinds, how) < 0)
        return err_set(e, TS_BAD_INPUT, "reduce: \"%s\" is none of set, add, mul, max, min", how);
    if (dtype_class(places->dtype) != D_WHOLE)
        return err_set(e, TS_BAD_INPUT, "places are of dtype %s, integers expected", ts_dtype_name(places->dtype));
    return x->dtype == y->dtype || err_set(e, TS_BAD_INPUT, "updates are %s, what they are put into is %s",
                                           ts_dtype_name(x->dtype), ts_dtype_name(y->dtype));
}

static bool same_dims(const type *t, const type *want, err *e) /* of the updates */
{
    bool same = t->rank == want->rank;
    for (int i = 0; same && i < t->rank; i++)
        same = t->dim[i] == want->dim[i];
    return same ||
           err_set(e, TS_BAD_INPUT, "updates are %s, places and operand ask for %s", type_said(t).s, type_said(want).s);
}

/* The updates' axes, after the result's. */
static void update_axes(defn *d, const expr **axis, uint32_t *set)
{
    const type *x = &d->node->in[2]->type;
    *set = 0;
    for (int i = 0; i < x->rank; i++) {
        const int a = defn_fold(d, x->dim[i]);
        axis[i] = x_axis(d->mem, a), *set |= 1u << a;
    }
}

static void give(defn *d, uint32_t set, const expr *const *axis, const expr *const *at)
{
    const int k = ROW_NAMED(kinds, node_attr(d->node, "reduce")->s);
    const dtype t = d->node->type.dtype;
    const int rank = d->node->type.rank;
    const expr *part[MAX_RANK + 2] = {defn_in(d, 0), defn_at(d, 2, axis)};
    memcpy(part + 2, at, (size_t)rank * sizeof *at);
    d->value = x_scatter(d->mem, t, t == TS_BOOL ? kinds[k].truth : kinds[k].fn, set, rank + 2, part);
}

/* ---- ONNX ---- */
static bool adapt(const onnx_call *c, const node **out, err *e)
{
    const char *how = onnx_word(c, "reduction", "none");
    const attr reduce = attr_word("reduce", strcmp(how, "none") ? how : "set");
    return onnx_give(c, out, onnx_made(c, 3, c->in, 1, &reduce), e);
}

/* ---- shape ---- */
static bool scatter_shape(const node *n, type *out, err *e)
{
    const type *y = &n->in[0]->type, *places = &n->in[1]->type;
    type want;
    int axis;
    return scatter_start(n, out, e) && attr_axis(n, "axis", y->rank, &axis, e) &&
           type_spliced(y, axis, places, "updates", &want, e) && same_dims(&n->in[2]->type, &want, e);
}

static bool scatter_nd_shape(const node *n, type *out, err *e)
{
    const type *y = &n->in[0]->type, *places = &n->in[1]->type;
    type want = *places;
    if (!scatter_start(n, out, e))
        return false;
    if (places->rank < 1 || places->dim[places->rank - 1] > y->rank)
        return err_set(e, TS_BAD_INPUT,
                       "places of rank %d and length %lld for rank %d: rank 1 or more and that length at most expected",
                       places->rank, places->rank ? (long long)places->dim[places->rank - 1] : 0, y->rank);
    const int depth = (int)places->dim[places->rank - 1];
    if (places->rank - 1 + y->rank - depth > MAX_RANK)
        return err_set(e, TS_BAD_INPUT, "the updates would have rank %d, at most %d is possible",
                       places->rank - 1 + y->rank - depth, MAX_RANK);
    want.dtype = y->dtype, want.rank = places->rank - 1;
    for (int i = depth; i < y->rank; i++)
        want.dim[want.rank++] = y->dim[i];
    return same_dims(&n->in[2]->type, &want, e);
}

static bool along_shape(const node *n, type *out, err *e)
{
    const type *y = &n->in[0]->type, *places = &n->in[1]->type;
    type want = *places;
    int axis;
    if (!scatter_start(n, out, e) || !attr_axis(n, "axis", y->rank, &axis, e))
        return false;
    if (places->rank != y->rank)
        return err_set(e, TS_BAD_INPUT, "places have rank %d, the operand %d, equal ones expected", places->rank,
                       y->rank);
    for (int i = 0; i < y->rank; i++)
        if (i != axis && places->dim[i] > y->dim[i])
            return err_set(e, TS_BAD_INPUT,
                           "axis %d of the places has %lld elements, at most %lld expected, as what they are put into",
                           i, (long long)places->dim[i], (long long)y->dim[i]);
    want.dtype = y->dtype;
    return same_dims(&n->in[2]->type, &want, e);
}

/* ---- body ---- */
/* y = a; y[..., places[p...], ...] += x[..., p..., ...] */
static const expr *scatter_body(defn *d)
{
    const type *y = &d->node->type, *places = &d->node->in[1]->type;
    const expr *x[MAX_RANK], *at[MAX_RANK];
    uint32_t set;
    const int axis = defn_axis(d, y->rank);
    update_axes(d, x, &set);
    for (int i = 0; i < y->rank; i++)
        at[i] = i == axis ? x_place(d->mem, defn_at(d, 1, x + axis), y->dim[axis])
                          : x[i < axis ? i : i - 1 + places->rank];
    give(d, set, x, at);
    return d->value;
}

/* y = a; y[places[p..., 0], places[p..., 1], ..., rest...] += x[p..., rest...] */
static const expr *scatter_nd_body(defn *d)
{
    const type *y = &d->node->type, *places = &d->node->in[1]->type;
    const int last = places->rank - 1, depth = (int)places->dim[last];
    const expr *x[MAX_RANK], *at[MAX_RANK], *place[MAX_RANK];
    uint32_t set;
    update_axes(d, x, &set);
    memcpy(place, x, (size_t)last * sizeof *place);
    for (int i = 0; i < y->rank; i++) {
        place[last] = x_whole(d->mem, i);
        at[i] = i < depth ? x_place(d->mem, defn_at(d, 1, place), y->dim[i]) : x[last + i - depth];
    }
    give(d, set, x, at);
    return d->value;
}

static const expr *along_body(defn *d)
{
    const type *y = &d->node->type;
    const expr *x[MAX_RANK], *at[MAX_RANK];
    uint32_t set;
    const int axis = defn_axis(d, y->rank);
    update_axes(d, x, &set);
    memcpy(at, x, (size_t)y->rank * sizeof *at);
    at[axis] = x_place(d->mem, defn_at(d, 1, x), y->dim[axis]);
    give(d, set, x, at);
    return d->value;
}

/* ---- grad ---- */
static bool has_axis(const node *call) /* as its first attribute */
{
    return !strcmp(call->attr->name, "axis");
}

/* The call of one of the three kinds with other operands, or of the operation that reads where it writes. */
static const node *again(graph *g, const node *call, const node *a, const node *updates, const char *how)
{
    const attr list[] = {attr_word("reduce", how), call->attr[0]}; /* the axis, where it has one */
    return g_make(g, call->op, NODES(a, call->in[1], updates), list, 1 + has_axis(call));
}

static const node *read_back(graph *g, const node *call, const node *a)
{
    static const char *const of[][2] = {
        {"scatter", "gather"}, {"scatter_nd", "gather_nd"}, {"put_along_axis", "take_along_axis"}};
    return g_apply_n(g, of[ROW_NAMED(of, call->op->name)][1], NODES(a, call->in[1]), has_axis(call), call->attr);
}

/* Which update stayed at its place, truth values of the updates' shape: number the updates, set the numbers, read them
 * back. */
static const node *stayed(graph *g, const node *call)
{
    const type *t = &call->in[2]->type;
    /* [updates], then as the updates */
    const node *number = g_count(g, type_count(t), TS_I64);
    type places = call->in[0]->type;
    places.dtype = TS_I64;
    number = g_reshape(g, number, t->rank, t->dim);
    const node *last = again(g, call, g_filled(g, &places, 0), number, "set"); /* as a */
    return g_call2(g, "equal", last ? read_back(g, call, last) : NULL, number);
}

static const node *when(graph *g, const node *condition, const node *a, const node *b)
{
    return g_call3(g, "where", condition, a, b);
}

/* y = a * the product of the updates at a place. That of the others at an update's place is what is not 0 there, over
 * the update if it is not 0 itself, unless two are. What `again` gives has the shape of a, what is read back that of
 * the updates. */
static const node *mul_grad(graph *g, const node *call, const node *dy, int k)
{
    const type *place = &call->in[0]->type;
    /* x as the updates, others as a */
    const node *x = call->in[2], *ones = g_filled(g, place, 1), *none = g_filled(g, place, 0);
    if (k == 0)
        return g_call2(g, "multiply", dy, again(g, call, ones, x, "mul"));
    /* [], [], as x */
    const node *zero = g_scalar_like(g, x, 0), *one = g_scalar_like(g, x, 1), *is_zero = g_call2(g, "equal", x, zero);
    const node *shown = when(g, is_zero, one, x), *count = g_cast(g, is_zero, x->type.dtype); /* both as x */
    const node *product = read_back(g, call, again(g, call, ones, shown, "mul"));             /* as x */
    /* as x */
    const node *zeros = g_call2(g, "subtract", read_back(g, call, again(g, call, none, count, "add")), count);
    /* as x */
    const node *others = when(g, g_call2(g, "equal", zeros, zero), g_call2(g, "divide", product, shown), zero);
    return g_call2(g, "multiply", read_back(g, call, g_call2(g, "multiply", dy, call->in[0])), others);
}

/* y = the extreme of a and the updates at a place: all that equal it share, as in a maximum along an axis.
 * hit has the shape of the updates; stays, count and part that of y. */
static const node *extreme_grad(graph *g, const node *call, const node *y, const node *dy, int k)
{
    const dtype d = y->type.dtype;
    const node *hit = g_call2(g, "equal", call->in[2], read_back(g, call, y));          /* as the updates */
    const node *stays = g_call2(g, "equal", call->in[0], y);                            /* as y */
    const node *count = again(g, call, g_cast(g, stays, d), g_cast(g, hit, d), "add");  /* as y */
    const node *part = g_call2(g, "divide", dy, count), *zero = g_scalar_like(g, y, 0); /* as y, [] */
    return k == 0 ? when(g, stays, part, zero) : when(g, hit, read_back(g, call, part), zero);
}

static const node *scatter_grad(graph *g, const node *call, const node *y, const node *dy, int k)
{
    const char *how = node_attr(call, "reduce")->s;
    if (!strcmp(how, "add"))
        return k == 0 ? dy : read_back(g, call, dy);
    if (!strcmp(how, "mul"))
        return mul_grad(g, call, dy, k);
    if (strcmp(how, "set"))
        return extreme_grad(g, call, y, dy, k);
    if (k == 0)
        return again(g, call, dy, g_filled(g, &call->in[2]->type, 0), "set");
    return when(g, stayed(g, call), read_back(g, call, dy), g_scalar_like(g, dy, 0));
}

/* ---- grad: sums of gradients ---- */
const node *g_added(graph *g, const node *a, const node *b)
{
    for (int i = 0; i < 2; i++) {
        const node *put = i ? a : b, *to = i ? b : a; /* both as a */
        if (put->op->grad == scatter_grad && !strcmp(node_attr(put, "reduce")->s, "add") &&
            put->in[0] == g_filled(g, &put->type, 0))
            return again(g, put, to, put->in[2], "add");
    }
    return g_call2(g, "add", a, b);
}

const node *g_put(graph *g, const node *start, const node *places, const node *values, const char *reduce)
{
    return g_apply_n(g, "scatter_nd", NODES(start, places, values), ATTRS(attr_word("reduce", reduce)));
}

/* ---- records ---- */
#define ALONG_AXIS "axis:i=0 reduce:s=set"

const op ops_scatter[] = {
    BODY("scatter a b c " ALONG_AXIS " -> r | u", scatter_body,
         "scatter(a, (slice(None),) * (axis % a.ndim) + (b,), c, reduce)", NULL,
         "f32[5,4] i64[2,3]<5 f32[2,3,4] reduce=add\nf32[5,4] i64[]<5 f32[4]\nf32[2,5,3] i32[4]<5 f32[2,4,3] "
         "axis=1 reduce=max\ni64[3,4] u8[2]<4 i64[3,2] axis=-1 reduce=mul\nf32[5,4] i64[0] f32[0,4]\nbool[6] "
         "i64[9]<6 bool[9] reduce=add\nf16[4,3] i64[7]<4 f16[7,3] reduce=add\ni32[7] i64[9]<7 i32[9]\nf64[3,2] "
         "i64[8]<3 f64[8,2] reduce=min\nf32[5,4] i64[7]<5 f32[7,4] reduce=mul\ni8[4] i64[9]<4 "
         "i8[9] reduce=add\nf32[40,33] i64[64]<40 f32[64,33] reduce=add",
         "The first tensor with parts along an axis, those that the second lists, set to those of the third or "
         "combined with them; reduce=add is the gradient of gather.",
         .shape = scatter_shape, .grad = scatter_grad),
    BODY("scatter_nd a b c reduce:s=set -> r | u", scatter_nd_body,
         "scatter(a, tuple(np.moveaxis(b, -1, 0)), c, reduce)", NULL,
         "f32[4,5] i64[3,2]<4 f32[3]\nf32[4,5] i64[6,1]<4 f32[6,5] reduce=add\nf32[4,4,2] i64[2,3,2]<4 "
         "f32[2,3,2] reduce=mul\ni64[4] i32[2,5,1]<4 i64[2,5] reduce=max\nf32[4,5] i64[2]<4 f32[]\nf32[4] "
         "i64[0,1] f32[0]\nf64[3,3] i64[9,2]<3 f64[9] reduce=min",
         "The first tensor with the parts at the places that the last axis of the second spells out set to those "
         "of the third, or combined with them.",
         .adapted = ADAPTED({"ScatterND 11 TiT 3 reduction", adapt}), .shape = scatter_nd_shape, .grad = scatter_grad),
    BODY("put_along_axis a b c " ALONG_AXIS " -> r | u", along_body,
         "scatter(a, tuple(b if i == axis % a.ndim else j for i, j in enumerate(np.indices(b.shape, "
         "sparse=True))), c, reduce)",
         NULL,
         "f32[3,4] i64[2,4]<3 f32[2,4]\nf32[3,4] i64[3,5]<4 f32[3,5] axis=1 reduce=add\ni64[2,3,4] i32[2,3,1]<4 "
         "i64[2,3,1] axis=-1 reduce=mul\nf32[3,4] i64[0,4] f32[0,4]\nf32[3,4] i64[2,2]<3 f32[2,2] reduce=max\n"
         "f32[7] i64[9]<7 f32[9] reduce=min\nf32[3,4] i64[3,6]<4 f32[3,6] axis=1 reduce=mul",
         "The first tensor with elements whose place along one axis is read from the second set to those of the "
         "third, or combined with them.",
         .adapted = ADAPTED({"Scatter 9 TiT 3 axis", adapt}, {"ScatterElements 11 TiT 3 axis reduction", adapt}),
         .shape = along_shape, .grad = scatter_grad),
    {0},
};
