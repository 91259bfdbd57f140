/* gather.c - reading where another tensor says. Negative places count from the end; places outside are refused
 * when met. */
#include "graph/eval/eval.h"
#include "graph/ir/rule.h"

#include <string.h>

/* ---- helpers ---- */
static bool whole_places(const node *n, err *e)
{
    const dtype d = n->in[1]->type.dtype;
    return dtype_class(d) == D_WHOLE ||
           err_set(e, TS_BAD_INPUT, "places are of dtype %s, integers expected", ts_dtype_name(d));
}

/* ---- ONNX ---- */
/* One constant place is a slice: the rest of the network then reads it in place. */
static const node *gather_one(const onnx_call *c, int axis, int64_t at)
{
    const node *a = c->in[0];
    const type *t = &a->type, *places = &c->in[1]->type;
    int64_t shape[2 * MAX_RANK];
    int rank = 0;
    for (int i = 0; i < t->rank; i++) {
        for (int k = 0; i == axis && k < places->rank; k++)
            shape[rank++] = 1;
        if (i != axis)
            shape[rank++] = t->dim[i];
    }
    const node *y = g_part(c->g, a, axis, at < 0 ? at + t->dim[axis] : at, 1); /* as a, with 1 at the axis */
    return g_reshape(c->g, y, rank, shape);
}

enum { MOST_KNOWN = 4096 }; /* constant indices that are looked at */
static bool adapt_gather(const onnx_call *c, const node **out, err *e)
{
    int axis;
    if (!axis_norm(onnx_own_int(c, "axis"), c->in[0]->type.rank, &axis, e))
        return false;
    const ts_array *place = g_constant(c->g, c->in[1], MOST_KNOWN);
    const int64_t extent = c->in[0]->type.dim[axis], n = place ? ts_array_count(place) : 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = load_whole(place->dtype, place->data, i);
        if (at >= -extent && at < extent)
            continue;
        err_set(e, TS_BAD_INPUT, "index %lld is out of range for axis %d of extent %lld", (long long)at, axis,
                (long long)extent);
        return err_hint(e, "indices go from %lld to %lld", -(long long)extent, (long long)extent - 1);
    }
    if (n == 1)
        return onnx_give(c, out, gather_one(c, axis, load_whole(place->dtype, place->data, 0)), e);
    return onnx_give(c, out, g_callf(c->g, 2, c->in, "gather axis=%d", axis), e);
}

/* ---- shape ---- */
static bool gather_shape(const node *n, type *out, err *e)
{
    const type *t = &n->in[0]->type, *places = &n->in[1]->type;
    int axis;
    return attr_axis(n, "axis", t->rank, &axis, e) && whole_places(n, e) &&
           type_spliced(t, axis, places, "result", out, e);
}

static bool gather_nd_shape(const node *n, type *out, err *e)
{
    const type *t = &n->in[0]->type, *places = &n->in[1]->type;
    const int64_t batch = node_int(n, "batch_dims");
    if (!whole_places(n, e))
        return false;
    if (places->rank < 1 || batch < 0 || batch >= places->rank || batch > t->rank)
        return err_set(e, TS_BAD_INPUT, "batch_dims: %lld of places of rank %d, 0 to one less expected",
                       (long long)batch, places->rank);
    const int64_t depth = batch + places->dim[places->rank - 1]; /* leading axes of the operand that are used up */
    if (depth > t->rank)
        return err_set(e, TS_BAD_INPUT,
                       "places of length %lld for rank %d, at most the rank without batch axes expected",
                       (long long)(depth - batch), t->rank);
    const int rank = places->rank - 1 + t->rank - (int)depth;
    if (rank > MAX_RANK)
        return err_set(e, TS_BAD_INPUT, "the result would have rank %d, at most %d is possible", rank, MAX_RANK);
    for (int i = 0; i < batch; i++)
        if (t->dim[i] != places->dim[i])
            return err_set(e, TS_BAD_INPUT, "batch axis %d differs between operand and places, equal extents expected",
                           i);
    *out = (type){.dtype = t->dtype, .rank = rank};
    for (int i = 0; i < rank; i++)
        out->dim[i] = i < places->rank - 1 ? places->dim[i] : t->dim[i - (places->rank - 1) + depth];
    return true;
}

static bool along_shape(const node *n, type *out, err *e)
{
    const type *t = &n->in[0]->type, *places = &n->in[1]->type;
    int axis;
    if (!attr_axis(n, "axis", t->rank, &axis, e) || !whole_places(n, e))
        return false;
    if (places->rank != t->rank)
        return err_set(e, TS_BAD_INPUT, "places have rank %d, the operand %d: equal ranks expected", places->rank,
                       t->rank);
    *out = *places, out->dtype = t->dtype;
    for (int i = 0; i < t->rank; i++)
        if (i != axis && places->dim[i] > t->dim[i])
            return err_set(e, TS_BAD_INPUT,
                           "axis %d of the places has %lld, of the operand %lld: at most as many expected", i,
                           (long long)places->dim[i], (long long)t->dim[i]);
    return true;
}

/* ---- body ---- */
/* y[..., p..., ...] = a[..., places[p...], ...]: the axes of the places stand where the operand's axis was. */
static const expr *gather_body(defn *d)
{
    const type *t = &d->node->in[0]->type, *places = &d->node->in[1]->type;
    const expr *sub[MAX_RANK], *at[MAX_RANK];
    const int axis = defn_axis(d, t->rank);
    for (int k = 0; k < places->rank; k++)
        at[k] = x_axis(d->mem, axis + k);
    for (int i = 0; i < t->rank; i++)
        sub[i] = x_axis(d->mem, i < axis ? i : i - 1 + places->rank);
    sub[axis] = x_place(d->mem, defn_at(d, 1, at), t->dim[axis]);
    return defn_at(d, 0, sub);
}

/* y[b..., p..., rest...] = a[b..., places[b..., p..., 0], places[b..., p..., 1], ..., rest...] */
static const expr *gather_nd_body(defn *d)
{
    const type *t = &d->node->in[0]->type, *places = &d->node->in[1]->type;
    const int batch = (int)node_int(d->node, "batch_dims"), last = places->rank - 1, depth = (int)places->dim[last];
    const expr *sub[MAX_RANK], *at[MAX_RANK];
    for (int k = 0; k < last; k++)
        at[k] = x_axis(d->mem, k);
    for (int i = 0; i < t->rank; i++) {
        if (i < batch)
            sub[i] = x_axis(d->mem, i);
        else if (i < batch + depth)
            at[last] = x_whole(d->mem, i - batch), sub[i] = x_place(d->mem, defn_at(d, 1, at), t->dim[i]);
        else
            sub[i] = x_axis(d->mem, i - batch - depth + last);
    }
    return defn_at(d, 0, sub);
}

static const expr *along_body(defn *d)
{
    const type *t = &d->node->in[0]->type;
    const expr *sub[MAX_RANK];
    const int axis = defn_axis(d, t->rank);
    defn_axes(d, t->rank, sub);
    sub[axis] = x_place(d->mem, defn_at(d, 1, sub), t->dim[axis]);
    return defn_at(d, 0, sub);
}

/* ---- grad ---- */
/* dy is added at the places that were read; asking for each place whether it was read would be slow. */
static const node *gather_grad(graph *g, const node *call, const node *y, const node *dy, int k)
{
    const char *back = strcmp(call->op->name, "gather") ? "put_along_axis" : "scatter";
    (void)y;
    return k ? NULL
             : g_callf(g, NODES(g_filled(g, &call->in[0]->type, 0), call->in[1], dy), "%s reduce=add axis=%lld", back,
                       (long long)node_int(call, "axis"));
}

/* ---- records ---- */
const op ops_gather[] = {
    BODY("gather a b axis:i=0", gather_body, "np.take(a, b, axis=axis)", NULL,
         "f32[5,4] i64[2,3]<5\nf32[5,4] i64[]<5\nf32[2,5,3] i32[4]<5 axis=1\ni64[3,4] u8[2]<4 axis=-1\n"
         "f32[5,4] i64[0]\nf32[5,0] i64[2]<5\nbool[6] i64[7]<6\nf32[0,4] i64[0,2]",
         "The parts of the first tensor along an axis that the second lists, as in an embedding.",
         .adapted = ADAPTED({"Gather 1 .i 2 axis", adapt_gather}), .back = "Gather a b axis=axis",
         .shape = gather_shape, .grad = gather_grad),
    BODY("gather_nd a b batch_dims:i=0", gather_nd_body,
         "a[(*np.indices(b.shape[:-1], sparse=True)[:batch_dims], *np.moveaxis(b, -1, 0))]", "GatherND 11 .i",
         "f32[4,5] i64[3,2]<4\nf32[4,5] i64[3,1]<4\nf32[4,4,2] i64[2,3,2]<4\nf32[2,3,4] i64[2,5,1]<3 "
         "batch_dims=1\ni64[2,3,4] i32[2,1]<3 batch_dims=1\nf32[4] i64[0,1]\nf32[4,5] i64[2]<4",
         "The parts of the first tensor at the places that the last axis of the second spells out.",
         .shape = gather_nd_shape),
    BODY("take_along_axis a b axis:i=0", along_body,
         "np.take_along_axis(a[tuple(slice(n) if i != axis % a.ndim else slice(None) for i, n in "
         "enumerate(b.shape))], b, axis)",
         "GatherElements 11 .i",
         "f32[3,4] i64[2,4]<3\nf32[3,4] i64[3,5]<4 axis=1\ni64[2,3,4] i32[2,3,1]<4 axis=-1\nf32[3,4] i64[0,4]\n"
         "f32[3,4] i64[2,2]<3",
         "Elements of the first tensor whose place along one axis is read from the second.", .shape = along_shape,
         .grad = gather_grad),
    {0},
};
