/* view.c - the same elements under other axes: reshape, transpose, broadcast and their relatives. Every definition
 * is one load, so that a scheduler can make it a way of reading instead of a copy. */
#include "graph/ir/rule.h"

#include <string.h>

/* ---- helpers: calls, for recipes everywhere ---- */
const node *g_reshape(graph *g, const node *a, int rank, const int64_t *shape)
{
    return g_apply(g, "reshape", a, ATTRS(attr_ints("shape", rank, shape)));
}

const node *g_swapped(graph *g, const node *a)
{
    int64_t axes[MAX_RANK];
    const int rank = a ? a->type.rank : 0;
    for (int i = 0; i < rank; i++)
        axes[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
    return g_transpose(g, a, rank, axes);
}

const node *g_padded(graph *g, const node *a, int axis, int64_t before, int64_t behind)
{
    int64_t pads[2 * MAX_RANK] = {0};
    const int rank = a ? a->type.rank : 0;
    pads[axis] = before, pads[axis + rank] = behind;
    return a ? g_apply(g, "pad", a, ATTRS(attr_ints("pads", 2 * rank, pads))) : NULL;
}

const node *g_repeated(graph *g, const node *a, int64_t n)
{
    int64_t shape[MAX_RANK + 1] = {n};
    const int rank = a ? a->type.rank : 0;
    for (int i = 0; i < rank; i++)
        shape[1 + i] = a->type.dim[i];
    return g_broadcast(g, a, rank + 1, shape);
}

const node *g_along(graph *g, const node *v, int rank, int axis)
{
    int64_t shape[MAX_RANK];
    for (int i = 0; v && i < rank; i++)
        shape[i] = i == axis ? type_count(&v->type) : 1;
    return g_reshape(g, v, rank, shape);
}

/* Before opset 7: `broadcast` and `axis` say where the second operand's dimensions stand in the first one's. */
bool onnx_aligned(const onnx_call *c, const node *pair[2], err *e)
{
    if (!onnx_need(c, 2, e))
        return false;
    pair[0] = c->in[0], pair[1] = c->in[1];
    const type *a = &pair[0]->type, *b = &pair[1]->type;
    if (!onnx_int(c, "broadcast", 0) || b->rank == 0)
        return true;
    int64_t axis = onnx_int(c, "axis", a->rank - b->rank), shape[MAX_RANK];
    if (axis < 0)
        axis += a->rank;
    if (axis < 0 || axis + b->rank > a->rank)
        return err_set(e, TS_BAD_INPUT, "%s: axis %lld for ranks %d and %d, expected 0 to %d", c->type, (long long)axis,
                       a->rank, b->rank, a->rank - b->rank);
    for (int i = 0; i < a->rank; i++)
        shape[i] = i >= axis && i < axis + b->rank ? b->dim[i - axis] : 1;
    pair[1] = g_reshape(c->g, pair[1], a->rank, shape);
    return true;
}

bool onnx_adapt_aligned(const onnx_call *c, const node **out, err *e)
{
    const node *pair[2];
    return onnx_aligned(c, pair, e) && onnx_give(c, out, g_make(c->g, c->op, 2, pair, NULL, 0), e);
}

const node *g_transpose(graph *g, const node *a, int rank, const int64_t *axes)
{
    return g_apply(g, "transpose", a, ATTRS(attr_ints("axes", rank, axes)));
}

const node *g_broadcast(graph *g, const node *a, int rank, const int64_t *shape)
{
    return g_apply(g, "broadcast_to", a, ATTRS(attr_ints("shape", rank, shape)));
}

/* ---- ONNX ---- */
/* 0 keeps the extent of the same axis (unless allowzero), -1 takes what is left. */
static bool adapt_reshape(const onnx_call *c, const node **out, err *e)
{
    int64_t shape[MAX_RANK];
    int n;
    if (!onnx_ints(c, "shape", 1, shape, MAX_RANK, &n, e))
        return false;
    const type *t = &c->in[0]->type;
    for (int i = 0; i < n && !onnx_int(c, "allowzero", 0); i++) {
        if (shape[i] == 0 && i >= t->rank) {
            err_set(e, TS_BAD_INPUT,
                    "Reshape: shape[%d] is 0, which keeps the extent of axis %d; the operand has %d axes", i, i,
                    t->rank);
            return err_hint(e, "allowzero=1, from operator set 14 on, makes it an extent of 0");
        }
        if (shape[i] == 0)
            shape[i] = t->dim[i];
    }
    return onnx_give(c, out, g_reshape(c->g, c->in[0], n, shape), e);
}

static bool adapt_flatten(const onnx_call *c, const node **out, err *e)
{
    const type *t = &c->in[0]->type;
    int64_t axis, shape[2] = {1, 1};
    if (!onnx_cut(c, 1, t->rank, &axis, e))
        return false;
    for (int i = 0; i < t->rank; i++)
        if (!int_mul(shape[i >= axis], t->dim[i], &shape[i >= axis]))
            return operands_refuse(1, c->in, e, "at most 2^63 - 1 elements on either side of axis %lld",
                                   (long long)axis);
    return onnx_give(c, out, g_reshape(c->g, c->in[0], 2, shape), e);
}

/* Of squeeze they may be left out. */
static bool adapt_axes(const onnx_call *c, const node **out, err *e)
{
    int64_t axes[MAX_RANK];
    int n;
    const bool given = onnx_has(c, "axes", 1) || strcmp(c->type, "Squeeze");
    if (given && !onnx_ints(c, "axes", 1, axes, MAX_RANK, &n, e))
        return false;
    return onnx_give(c, out, onnx_made(c, 1, c->in, given, (attr[]){attr_ints("axes", given ? n : 0, axes)}), e);
}

/* Expand broadcasts both ways: an extent of 1 in the wanted shape keeps that of the operand. */
static bool adapt_expand(const onnx_call *c, const node **out, err *e)
{
    type want = {0}, both = {0};
    if (!onnx_ints(c, "shape", 1, want.dim, MAX_RANK, &want.rank, e))
        return false;
    for (int i = 0; i < want.rank; i++)
        if (want.dim[i] < 0)
            return err_set(e, TS_BAD_INPUT, "Expand: extent %lld, 0 or more expected", (long long)want.dim[i]);
    if (!type_broadcast(2, (const type *const[]){&c->in[0]->type, &want}, &both, e))
        return false;
    return onnx_give(c, out, g_broadcast(c->g, c->in[0], both.rank, both.dim), e);
}

static bool adapt_constant_of_shape(const onnx_call *c, const node **out, err *e)
{
    int64_t shape[MAX_RANK];
    int n;
    const node *value = NULL;
    if (!onnx_ints(c, "", 0, shape, MAX_RANK, &n, e))
        return false;
    for (int i = 0; i < c->n_attr; i++)
        if (c->tensor && c->tensor[i] && ts_array_count(c->tensor[i]) == 1)
            value = g_const(c->g, "", &(type){.dtype = c->tensor[i]->dtype}, c->tensor[i]->data);
    if (!value && c->n_attr)
        return err_set(e, TS_BAD_INPUT, "ConstantOfShape: attribute %s is not one number", c->attr[0].name);
    if (!value)
        value = g_scalar(c->g, TS_F32, 0);
    return onnx_give(c, out, g_broadcast(c->g, value, n, shape), e);
}

/* ---- shape ---- */
static bool rank_allowed(int rank, err *e)
{
    return rank <= MAX_RANK || err_set(e, TS_BAD_INPUT, "rank %d, at most %d expected", rank, MAX_RANK);
}

static bool reshape_shape(const node *n, type *out, err *e)
{
    const attr *shape = node_attr(n, "shape");
    const int64_t have = type_count(&n->in[0]->type);
    int64_t known = 1;
    int open = -1;
    if (!rank_allowed(shape->n, e))
        return false;
    *out = (type){.dtype = n->in[0]->type.dtype, .rank = shape->n};
    for (int i = 0; i < shape->n; i++) {
        const int64_t v = out->dim[i] = shape->ints[i], before = known;
        if (v == -1 && open < 0)
            open = i;
        else if (v < 0)
            return v == -1 ? err_set(e, TS_BAD_INPUT, "shape: more than one -1, at axes %d and %d", open, i)
                           : err_set(e, TS_BAD_INPUT, "shape: extent %lld of axis %d, 0 or more expected, or -1",
                                     (long long)v, i);
        else if (!int_mul(before, v, &known))
            return err_set(e, TS_BAD_INPUT, "shape: %lld more for each of %lld elements, at most 2^63 - 1 expected",
                           (long long)v, (long long)before);
    }
    if (open >= 0 && known && have % known == 0)
        out->dim[open] = have / known, known = have;
    if (open >= 0 ? out->dim[open] >= 0 : known == have)
        return true;
    ENDED_BY(text_free) text wanted = {0};
    for (int i = 0; i < shape->n; i++)
        text_add(&wanted, "%s%lld", i ? "," : "", (long long)shape->ints[i]);
    return err_set(e, TS_BAD_INPUT, "%lld elements do not fit the shape [%s]", (long long)have, text_str(&wanted));
}

static bool transpose_shape(const node *n, type *out, err *e)
{
    const type *t = &n->in[0]->type;
    const attr *axes = node_attr(n, "axes");
    uint32_t set;
    *out = *t;
    if (axes->kind != '-' && axes->n != t->rank)
        return err_set(e, TS_BAD_INPUT, "axes: %d listed, the operand has %d: each of them expected", axes->n, t->rank);
    if (!axes_set(axes, t->rank, &set, e))
        return false;
    for (int i = 0; i < t->rank; i++)
        out->dim[i] = t->dim[axes->kind == '-' ? t->rank - 1 - i : (axes->ints[i] + t->rank) % t->rank];
    return true;
}

static bool transpose_extents(graph *g, const node *n, int64_t (*dim)[MAX_RANK])
{
    const attr *axes = node_attr(n, "axes");
    (void)g;
    for (int i = 0; i < n->type.rank; i++) {
        int64_t *to = &dim[0][axes->kind == '-' ? n->type.rank - 1 - i : (axes->ints[i] + n->type.rank) % n->type.rank];
        *to = *to < 0 ? dim[1][i] : *to;
    }
    return true;
}

static bool broadcast_shape(const node *n, type *out, err *e)
{
    const attr *shape = node_attr(n, "shape");
    type want = {.dtype = n->in[0]->type.dtype, .rank = shape->n};
    if (!rank_allowed(shape->n, e))
        return false;
    for (int i = 0; i < shape->n; i++)
        want.dim[i] = shape->ints[i];
    if (!type_valid(&want, e) || !type_broadcast(2, (const type *const[]){&n->in[0]->type, &want}, out, e))
        return false;
    out->dtype = want.dtype;
    return type_equal(out, &want) || operands_refuse(1, n->in, e, "what repeats to %s", type_said(&want).s);
}

/* ---- body ---- */
/* The place of an element within axes [first, last) of the result, counted row by row. */
static const expr *row_major(const defn *d, int first, int last)
{
    const expr *at = x_whole(d->mem, 0);
    int64_t stride = 1;
    for (int i = last - 1; i >= first; i--) {
        if (d->extent[i] != 1)
            at = x2(d->mem, "add", x2(d->mem, "mul", x_axis(d->mem, i), x_whole(d->mem, stride)), at);
        stride *= d->extent[i];
    }
    return at;
}

/* Subscripts [first, last) of the operand from that place. */
static void unfold(const defn *d, const type *from, int first, int last, const expr *at, const expr **sub)
{
    int64_t inner = 1, outer = 1;
    for (int i = first; i < last; i++)
        outer *= from->dim[i];
    const int64_t all = outer;
    for (int i = last - 1; i >= first; i--) {
        const expr *s = x2(d->mem, "floordiv", at, x_whole(d->mem, inner));
        if (from->dim[i] == 1)
            s = x_whole(d->mem, 0);
        else if (inner * from->dim[i] < all)
            s = x2(d->mem, "mod", s, x_whole(d->mem, from->dim[i]));
        sub[i] = s;
        inner *= from->dim[i];
    }
}

/* Extents are matched in groups of equal product: [2,3,64] -> [2,3,8,8] leaves the first two axes alone and
 * divides only the last, instead of dividing one long number. */
static const expr *reshape_body(defn *d)
{
    const type *from = &d->node->in[0]->type, *to = &d->node->type;
    const expr *sub[MAX_RANK];
    for (int i = 0; i < from->rank; i++)
        sub[i] = x_whole(d->mem, 0);
    for (int i = 0, j = 0, i0, j0; type_count(to) && (i < from->rank || j < to->rank);) {
        int64_t p = i < from->rank ? from->dim[i] : 1, q = j < to->rank ? to->dim[j] : 1;
        i0 = i, j0 = j;
        i += i < from->rank, j += j < to->rank;
        while (p != q)
            if (p < q)
                p *= from->dim[i++];
            else
                q *= to->dim[j++];
        unfold(d, from, i0, i, row_major(d, j0, j), sub);
    }
    return defn_at(d, 0, sub);
}

static const expr *transpose_body(defn *d)
{
    const attr *axes = node_attr(d->node, "axes");
    const int rank = d->node->type.rank;
    const expr *sub[MAX_RANK];
    for (int i = 0; i < rank; i++)
        sub[axes->kind == '-' ? rank - 1 - i : (axes->ints[i] + rank) % rank] = x_axis(d->mem, i);
    return defn_at(d, 0, sub);
}

static const expr *broadcast_body(defn *d)
{
    return defn_in(d, 0);
}

/* ---- recipes ---- */
static const node *expand_dims_lower(graph *g, const node *n)
{
    const type *t = &n->in[0]->type;
    const attr *axes = node_attr(n, "axes");
    const int rank = t->rank + axes->n;
    uint32_t set;
    int64_t shape[MAX_RANK];
    if (!rank_allowed(rank, &g->err) || !axes_set(axes, rank, &set, &g->err))
        return NULL;
    for (int i = 0, k = 0; i < rank; i++)
        shape[i] = set >> i & 1 ? 1 : t->dim[k++];
    return g_reshape(g, n->in[0], rank, shape);
}

static const node *squeeze_lower(graph *g, const node *n)
{
    const type *t = &n->in[0]->type;
    const attr *axes = node_attr(n, "axes");
    uint32_t set;
    int64_t shape[MAX_RANK];
    int rank = 0;
    if (!axes_set(axes, t->rank, &set, &g->err))
        return NULL;
    for (int i = 0; i < t->rank; i++) {
        const bool listed = set >> i & 1;
        if (listed && axes->kind != '-' && t->dim[i] != 1)
            return g_fail(g, TS_BAD_INPUT, "axis %d has extent %lld, not 1", i, (long long)t->dim[i]);
        if (!listed || t->dim[i] != 1)
            shape[rank++] = t->dim[i];
    }
    return g_reshape(g, n->in[0], rank, shape);
}

/* ---- grad ---- */
static const node *reshape_grad(graph *g, const node *call, const node *y, const node *dy, int k) /* as y -> in[k] */
{
    const type *t = &call->in[k]->type;
    (void)y;
    return g_reshape(g, dy, t->rank, t->dim);
}

static const node *transpose_grad(graph *g, const node *call, const node *y, const node *dy, int k)
{
    const attr *axes = node_attr(call, "axes");
    const int rank = y->type.rank;
    int64_t back[MAX_RANK];
    (void)k;
    for (int i = 0; i < rank; i++)
        back[axes->kind == '-' ? rank - 1 - i : (axes->ints[i] + rank) % rank] = i;
    const node *product = rank == 2 && back[0] == 1 ? g_product_turned(g, dy) : NULL; /* [n, m] of dy [m, n] */
    return product ? product : g_transpose(g, dy, rank, back);
}

static const node *broadcast_grad(graph *g, const node *call, const node *y, const node *dy, int k)
{
    (void)g, (void)call, (void)y, (void)k;
    return dy; /* a gradient is summed to its operand's shape */
}

/* ---- records ---- */
const op ops_view[] = {
    BODY(
        "reshape a shape:I", reshape_body, "a.reshape(shape)", NULL,
        "f32[2,3,64] shape=[2,3,8,8]\nf32[2,3,8,8] shape=[2,3,-1]\nf64[6,4] shape=[4,6]\n"
        "i32[2,1,3] shape=[2,3]\nf32[4] shape=[1,4,1]\nf32[] shape=[1,1]\nf32[1] shape=[]\n"
        "f32[2,3,4] shape=[24]\nf32[24] shape=[2,-1,4]\nf32[0,3] shape=[3,0]\nf32[0,3] shape=[-1,5]\n"
        "bool[4,3] shape=[2,6]\nf32[6,10,2] shape=[4,15,2]\nf32[1,1,1] shape=[1]",
        "The same elements in row order under other extents; one -1 takes what is left.",
        .adapted = ADAPTED({"Reshape 1 .i 1..2 allowzero shape", adapt_reshape}, {"Flatten 1 - 1 axis", adapt_flatten}),
        .onnx_cases = "Flatten f32[2,3,4] axis=2",
        .onnx_undefined = "Reshape: A 0 beyond the operand's axes has no extent to keep and is refused; so is -1 "
                          "beside an extent of 0.",
        .back = "Reshape a # allowzero:1", .shape = reshape_shape, .grad = reshape_grad),
    BODY("transpose a axes:I=", transpose_body, "np.transpose(a, axes)", "Transpose 1 - 1 axes:perm",
         "f32[2,3]\nf32[2,3,4,5] axes=[0,2,1,3]\ni64[2,3,4] axes=[-1,0,1]\nf64[4]\nf32[]\n"
         "f32[2,0,3] axes=[1,2,0]\nbool[3,2,1]",
         "The axes in another order; reversed when none is given.", .back = "Transpose a perm=axes",
         .shape = transpose_shape, .extents = transpose_extents, .kept = kept_all, .grad = transpose_grad),
    BODY("broadcast_to a shape:I", broadcast_body, "np.broadcast_to(a, shape)", NULL,
         "f32[3] shape=[2,3]\nf32[2,1] shape=[2,4]\ni64[] shape=[2,2]\nf32[1,3] shape=[0,3]\n"
         "f64[2,3] shape=[2,3]\nbool[1] shape=[1,1,5]",
         "The value repeated along new axes and axes of extent 1.",
         .adapted = ADAPTED({"Expand 8 .i 1..2", adapt_expand},
                            {"ConstantOfShape 9 i 1 value", adapt_constant_of_shape}),
         .onnx_cases = "ConstantOfShape i64[2]=3\nExpand f32[2,1] i64[2]=2", .back = "Expand a #",
         .shape = broadcast_shape, .grad = broadcast_grad),
    RECIPE("expand_dims a axes:I", expand_dims_lower, "np.expand_dims(a, axes)", NULL,
           "f32[2,3] axes=[0]\nf32[2,3] axes=[1,-1]\ni64[] axes=[0,1]\nf32[0,3] axes=[2]\nf32[2] axes=[]",
           "New axes of extent 1 at the listed places of the result.",
           .adapted = ADAPTED({"Unsqueeze 1 .i 1..2 axes", adapt_axes})),
    RECIPE("squeeze a axes:I=", squeeze_lower, "np.squeeze(a, axes)", NULL,
           "f32[1,3,1]\nf32[1,3,1] axes=[0]\ni64[1,1] axes=[-1]\nf32[2,3]\nf32[0,1]\nf32[2,1] axes=[]",
           "Without the listed axes of extent 1, or without all of them.",
           .adapted = ADAPTED({"Squeeze 1 .i 1..2 axes", adapt_axes})),
    {0},
};
