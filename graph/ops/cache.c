/* cache.c - a stretch of new elements along one axis of a tensor that keeps its extents. */
#include "graph/ir/rule.h"

#include <string.h>

/* ---- helpers ---- */
bool g_goes_on(graph *g, const node *joined, const node *now, const goes_on_at *at, going_on *out)
{
    const node *past = at->past;
    if (joined->op != op_find("concat") || joined->in[0] != past || joined->n_in < 2)
        return false;
    type room = joined->type;
    attr_axis(joined, "axis", room.rank, &out->axis, &(err){0});
    room.dim[out->axis] = at->most;
    const attr how[] = {attr_int("axis", out->axis), attr_word("reduce", "set")};
    const node *behind = g_joined(g, now->n_in - 1, now->in + 1, out->axis);
    out->n = behind ? behind->type.dim[out->axis] : 0;
    out->kept = g_input(g, at->label, &room, NULL);
    const type places = {.dtype = TS_I64, .rank = 1, .dim = {out->n}};
    const node *put[] = {out->kept, g_input(g, at->places, &places, NULL), behind};
    out->next = put[0] && put[1] && put[2] ? g_make(g, op_find("scatter"), 3, put, how, 2) : NULL;
    out->joined = g_part(g, out->next, out->axis, 0, joined->type.dim[out->axis]);
    out->past = g_part(g, out->kept, out->axis, 0, past->type.dim[out->axis]);
    return out->joined && out->past;
}

/* ---- ONNX ---- */
static bool adapt_tensor_scatter(const onnx_call *c, const node **out, err *e)
{
    const char *mode = onnx_word(c, "mode", "linear");
    if (strcmp(mode, "linear") && strcmp(mode, "circular"))
        return err_set(e, TS_BAD_INPUT, "TensorScatter: mode \"%s\" is neither linear nor circular", mode);
    graph *g = c->g;
    const type *t = &c->in[0]->type;
    const node *from = onnx_in(c, 2); /* [batch] */
    if (!from)
        from = g_broadcast(g, g_scalar(g, TS_I64, 0), 1, (int64_t[]){t->rank ? t->dim[0] : 1});
    /* [batch, ..., max, ...], the same with fewer, [batch] */
    const node *y = onnx_made(c, NODES(c->in[0], c->in[1], from), ATTRS(attr_int("circular", *mode == 'c')));
    return onnx_give(c, out, y, e);
}

/* ---- shape, body ---- */
static bool overwrite_shape(const node *n, type *out, err *e)
{
    const type *t = &n->in[0]->type, *x = &n->in[1]->type, *from = &n->in[2]->type;
    int axis;
    *out = *t;
    if (!attr_axis(n, "axis", t->rank, &axis, e))
        return false;
    bool ok = axis > 0 && x->rank == t->rank && x->dtype == t->dtype && from->rank == 1 && from->dim[0] == t->dim[0] &&
              dtype_class(from->dtype) == D_WHOLE;
    for (int i = 0; ok && i < t->rank; i++)
        ok = i == axis ? x->dim[i] <= t->dim[i] : x->dim[i] == t->dim[i];
    return ok || operands_refuse(3, n->in, e,
                                 "axis behind 0, elements that fit the cache's other axes, and their "
                                 "places, integers [batch],");
}

/* y[b, ..., i, ...] = x[b, ..., i - from[b], ...] where that exists, else a[b, ..., i, ...] */
static const expr *overwrite_body(defn *d)
{
    arena *mem = d->mem;
    const type *t = &d->node->type, *x = &d->node->in[1]->type;
    const expr *sub[MAX_RANK];
    const int axis = defn_axis(d, t->rank);
    defn_axes(d, t->rank, sub);
    const expr *old = defn_at(d, 0, sub), *from = x_cast(mem, TS_I64, defn_at(d, 2, sub));
    sub[axis] = x2(mem, "sub", sub[axis], from);
    if (node_int(d->node, "circular"))
        sub[axis] = x2(mem, "mod", sub[axis], x_whole(mem, t->dim[axis] ? t->dim[axis] : 1));
    const int64_t last = x->dim[axis] - 1;
    const expr *here = x_inside(mem, sub[axis], 0, last + 1);
    sub[axis] = x_said(mem, "max(min(i, last), 0)", "i", sub[axis], "last", x_whole(mem, last), NULL);
    return last < 0 ? old : x3(mem, "select", here, defn_at(d, 1, sub), old);
}

/* ---- records ---- */
const op ops_cache[] = {
    BODY("overwrite a b c axis:i=-2 circular:i=0 -> e", overwrite_body,
         "(lambda y: [y[i].__setitem__((*(slice(None),) * (axis % a.ndim - 1), (int(c[i]) + "
         "np.arange(b.shape[axis])) % a.shape[axis]), b[i]) for i in range(len(a))] and y)(a.copy())",
         NULL,
         "f32[2,3,8,4] f32[2,3,2,4] u8[2]<6\nf32[2,8,4] f32[2,3,4] u8[2]<7 circular=1\ni64[3,5] i64[3,1] u64[3]<5 "
         "axis=1",
         "The first tensor with the second in place of a stretch of an axis, which begins at a place of its own for "
         "every element of axis 0.",
         .adapted = ADAPTED({"TensorScatter 24 TTi 2..3 axis mode", adapt_tensor_scatter}),
         .onnx_cases = "TensorScatter f32[1,2,4,3] f32[1,2,1,3] i64[1]", .shape = overwrite_shape),
    {0},
};
