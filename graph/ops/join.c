/* join.c - larger tensors out of smaller ones: concatenation, padding, repetition. */
#include "graph/eval/eval.h"
#include "graph/ir/rule.h"

#include <math.h>
#include <string.h>

/* ---- helpers ---- */
const node *g_joined(graph *g, int64_t n, const node *const *part, int64_t axis)
{
    return n == 1 ? part[0] : g_apply_n(g, "concat", (int)n, part, ATTRS(attr_int("axis", axis)));
}

/* ---- ONNX ---- */
static bool adapt_concat(const onnx_call *c, const node **out, err *e)
{
    if (!onnx_need(c, c->n_in, e))
        return false;
    const int64_t axis = onnx_int(c, "axis", 1); /* 1 was the default up to version 3; then it became required */
    return onnx_give(c, out, g_joined(c->g, c->n_in, c->in, axis), e);
}

/* With a value that is an operand: an attribute where it is known and a double holds it, else a choice beside x padded
 * with zeros. list: pads, mode, value */
static const node *pad_with(graph *g, const node *x, const node *value, const attr list[3])
{
    const ts_array *v = g_constant(g, value, 1);
    const double known = v && ts_array_count(v) == 1 ? load_real(v->dtype, v->data, 0) : NAN;
    const bool exact = v && ts_array_count(v) == 1 && (dtype_class(v->dtype) != D_WHOLE || fabs(known) < 0x1p53);
    if (exact)
        return g_apply(g, "pad", x, ATTRS(list[0], list[1], attr_real("value", known)));
    const node *inside = g_apply(g, "pad", g_broadcast(g, g_scalar(g, TS_BOOL, 1), x->type.rank, x->type.dim), 2, list),
               *padded = g_apply(g, "pad", x, 2, list); /* both as the result */
    if (type_count(&value->type) != 1)
        return g_fail(g, TS_BAD_INPUT, "the value to pad with has %lld elements, expected one",
                      (long long)type_count(&value->type));
    return g_call3(g, "where", inside, padded, g_cast(g, g_reshape(g, value, 0, &(int64_t){1}), x->type.dtype));
}

/* Pads: attribute up to version 10, then operand 1, since 18 for the axes in operand 3. The value: attribute or
 * operand 2. */
static bool adapt_pad(const onnx_call *c, const node **out, err *e)
{
    int64_t given[2 * MAX_RANK], pads[2 * MAX_RANK] = {0};
    int n, n_axes, axis[MAX_RANK];
    if (!onnx_ints(c, onnx_attr(c, "paddings") ? "paddings" : "pads", 1, given, 2 * MAX_RANK, &n, e) ||
        !onnx_axes(c, 3, &n_axes, axis, e))
        return false;
    const int rank = c->in[0]->type.rank;
    if (n != 2 * n_axes)
        return err_set(e, TS_BAD_INPUT, "Pad: %d numbers for %d axes, two for each expected", n, n_axes);
    for (int i = 0; i < n_axes; i++)
        pads[axis[i]] = given[i], pads[axis[i] + rank] = given[i + n_axes];
    const char *mode = onnx_word(c, "mode", "constant");
    const attr list[] = {attr_ints("pads", 2 * rank, pads), attr_word("mode", mode),
                         attr_real("value", onnx_real(c, "value", 0))};
    const node *y = onnx_in(c, 2) && !strcmp(mode, "constant") ? pad_with(c->g, c->in[0], c->in[2], list)
                                                               : g_apply(c->g, "pad", c->in[0], COUNT(list), list);
    return onnx_give(c, out, y, e);
}

/* Before version 6: how often, and along which axis, as two numbers. */
static bool read_times(const onnx_call *c, int64_t *reps, int rank, err *e)
{
    double times = 1, along = 0;
    int axis;
    if (!onnx_need(c, 3, e) || !onnx_number(c, 1, &times, e) || !onnx_number(c, 2, &along, e) ||
        !axis_norm((int64_t)along, rank, &axis, e))
        return false;
    for (int i = 0; i < rank; i++)
        reps[i] = i == axis ? (int64_t)times : 1;
    return true;
}

static bool adapt_tile(const onnx_call *c, const node **out, err *e)
{
    int64_t reps[MAX_RANK];
    const int rank = c->in[0]->type.rank;
    int n = rank;
    if (c->version < 6 ? !read_times(c, reps, rank, e) : !onnx_ints(c, "", 1, reps, MAX_RANK, &n, e))
        return false;
    if (n != rank)
        return err_set(e, TS_BAD_INPUT, "Tile: %d numbers for rank %d, one for each axis expected", n, rank);
    return onnx_give(c, out, g_apply(c->g, "tile", c->in[0], ATTRS(attr_ints("reps", n, reps))), e);
}

/* Cuts or pads the listed axes to the wanted extents, with the odd element off or on at the end. */
static bool adapt_center(const onnx_call *c, const node **out, err *e)
{
    int64_t want[MAX_RANK], pads[2 * MAX_RANK] = {0};
    int n, n_axes, axis[MAX_RANK];
    if (!onnx_ints(c, "", 1, want, MAX_RANK, &n, e) || !onnx_axes(c, -1, &n_axes, axis, e))
        return false;
    const type *t = &c->in[0]->type;
    if (n != n_axes)
        return err_set(e, TS_BAD_INPUT, "CenterCropPad: %d extents for %d axes, one for each expected", n, n_axes);
    for (int i = 0; i < n; i++) {
        const int64_t more = want[i] - t->dim[axis[i]];
        pads[axis[i]] = more / 2, pads[axis[i] + t->rank] = more - more / 2; /* both towards the smaller cut or pad */
    }
    return onnx_give(c, out, g_apply(c->g, "pad", c->in[0], ATTRS(attr_ints("pads", 2 * t->rank, pads))), e);
}

/* ---- shape ---- */
static bool concat_shape(const node *n, type *out, err *e)
{
    int axis;
    if (n->n_in < 1)
        return err_set(e, TS_BAD_INPUT, "nothing to join, at least one operand expected");
    *out = n->in[0]->type;
    if (!attr_axis(n, "axis", out->rank, &axis, e))
        return false;
    for (int k = 1; k < n->n_in; k++) {
        const type *t = &n->in[k]->type;
        bool ok = t->rank == out->rank;
        for (int i = 0; ok && i < t->rank; i++)
            ok = i == axis || t->dim[i] == out->dim[i];
        if (!ok)
            return err_set(e, TS_BAD_INPUT, "operand %d is %s, the first is %s: they differ beside axis %d", k + 1,
                           type_said(t).s, type_said(&n->in[0]->type).s, axis);
        out->dtype = dtype_promote(out->dtype, t->dtype);
        if (!int_add(out->dim[axis], t->dim[axis], &out->dim[axis]))
            return operands_refuse(n->n_in, n->in, e, "extents of axis %d that add up to at most 2^63 - 1", axis);
    }
    return true;
}

static bool pad_shape(const node *n, type *out, err *e)
{
    const attr *pads = node_attr(n, "pads");
    const char *mode = node_attr(n, "mode")->s;
    *out = n->in[0]->type;
    if (strcmp(mode, "constant") && strcmp(mode, "reflect") && strcmp(mode, "edge") && strcmp(mode, "wrap"))
        return err_set(e, TS_UNSUPPORTED, "mode: \"%s\" is none of constant, reflect, edge, wrap", mode);
    if (pads->n != 2 * out->rank)
        return err_set(e, TS_BAD_INPUT, "pads: %d numbers for rank %d, %d expected: all beginnings, then all ends",
                       pads->n, out->rank, 2 * out->rank);
    for (int i = 0; i < out->rank; i++) {
        const int64_t dim = out->dim[i];
        int64_t *y = &out->dim[i];
        if (!int_add(*y, pads->ints[i], y) || !int_add(*y, pads->ints[i + out->rank], y) || *y < 0)
            return err_set(e, TS_BAD_INPUT,
                           "pads: %lld and %lld beside the %lld elements of axis %d, 0 to 2^63 - 1 in all expected",
                           (long long)pads->ints[i], (long long)pads->ints[i + out->rank], (long long)dim, i);
        if (dim == 0 && *y > 0 && strcmp(mode, "constant"))
            return err_set(e, TS_BAD_INPUT, "axis %d is empty: nothing to repeat, mode \"constant\" expected", i);
    }
    return true;
}

static bool tile_shape(const node *n, type *out, err *e)
{
    const attr *reps = node_attr(n, "reps");
    const type *t = &n->in[0]->type;
    if (reps->n > MAX_RANK)
        return err_set(e, TS_BAD_INPUT, "reps: %d numbers, at most %d expected", reps->n, MAX_RANK);
    *out = (type){.dtype = t->dtype, .rank = reps->n > t->rank ? reps->n : t->rank};
    for (int i = 0; i < out->rank; i++) { /* both lists are aligned at their ends; what is missing counts as 1 */
        const int from = i - (out->rank - t->rank), r = i - (out->rank - reps->n);
        if (!int_mul(from < 0 ? 1 : t->dim[from], r < 0 ? 1 : reps->ints[r], &out->dim[i]))
            return err_set(e, TS_BAD_INPUT, "reps: %lld times extent %lld of axis %d, at most 2^63 - 1 expected",
                           (long long)reps->ints[r], (long long)t->dim[from], i);
    }
    return true;
}

/* ---- body ---- */
/* The operand whose stretch holds the place, asked from the first on; the last needs no question. */
static const expr *pick(defn *d, int axis, int operand, int64_t start)
{
    const node *n = d->node;
    const int64_t dim = n->in[operand]->type.dim[axis];
    const expr *sub[MAX_RANK];
    defn_axes(d, n->type.rank, sub);
    sub[axis] = x_offset(d->mem, sub[axis], 1, -start);
    const expr *here = x_cast(d->mem, n->type.dtype, defn_at(d, operand, sub));
    int next = operand + 1;
    while (next < n->n_in && n->in[next]->type.dim[axis] == 0)
        next++;
    if (next == n->n_in)
        return here;
    const expr *before = x2(d->mem, "lt", x_axis(d->mem, axis), x_whole(d->mem, start + dim));
    return x3(d->mem, "select", before, here, pick(d, axis, next, start + dim));
}

static const expr *concat_body(defn *d)
{
    int first = 0;
    const int axis = defn_axis(d, d->node->type.rank);
    while (first + 1 < d->node->n_in && d->node->in[first]->type.dim[axis] == 0)
        first++;
    return pick(d, axis, first, 0);
}

/* Where place i of the padded axis reads, for i counted from the operand's first element. */
static const expr *reflected(arena *mem, const expr *i, int64_t dim, bool once)
{
    if (dim == 1)
        return x_whole(mem, 0);
    return x_said(mem, once ? "last - abs(abs(i) - last)" : "last - abs(i % turn - last)", "i", i, "last",
                  x_whole(mem, dim - 1), "turn", x_whole(mem, 2 * (dim - 1)), NULL); /* there and back */
}

static const expr *clamped(arena *mem, const expr *i, int64_t dim)
{
    return x_said(mem, "max(min(i, last), 0)", "i", i, "last", x_whole(mem, dim - 1), NULL);
}

static const expr *pad_body(defn *d)
{
    const attr *pads = node_attr(d->node, "pads");
    const char *mode = node_attr(d->node, "mode")->s;
    const type *from = &d->node->in[0]->type;
    const expr *sub[MAX_RANK], *inside = NULL;
    for (int i = 0; i < from->rank; i++) {
        const int64_t dim = from->dim[i], before = pads->ints[i], after = pads->ints[i + from->rank];
        sub[i] = x_offset(d->mem, x_axis(d->mem, i), 1, -before);
        if (before <= 0 && after <= 0)
            continue;
        if (!strcmp(mode, "reflect"))
            sub[i] = reflected(d->mem, sub[i], dim, before < dim && after < dim);
        else if (!strcmp(mode, "edge"))
            sub[i] = clamped(d->mem, sub[i], dim);
        else if (!strcmp(mode, "wrap"))
            sub[i] = x2(d->mem, "mod", sub[i], x_whole(d->mem, dim));
        else
            inside = x_both(d->mem, inside, x_inside(d->mem, sub[i], 0, dim));
    }
    d->value = defn_at(d, 0, sub);
    if (inside)
        return x3(d->mem, "select", inside, d->value, x_literal(d->mem, from->dtype, node_real(d->node, "value")));
    return d->value;
}

static const expr *tile_body(defn *d)
{
    const type *from = &d->node->in[0]->type;
    const int skip = d->node->type.rank - from->rank;
    const expr *sub[MAX_RANK];
    for (int i = 0; i < from->rank; i++) {
        const expr *at = x_axis(d->mem, i + skip);
        const bool once = d->node->type.dim[i + skip] == from->dim[i];
        sub[i] = once ? at : x2(d->mem, "mod", at, x_whole(d->mem, from->dim[i] ? from->dim[i] : 1));
    }
    return defn_at(d, 0, sub);
}

/* ---- recipes ---- */
static const node *stack_lower(graph *g, const node *n)
{
    const node **part = arena_array(&g->mem, (size_t)n->n_in + 1, sizeof *part);
    const attr at = attr_ints("axes", 1, (int64_t[]){node_int(n, "axis")});
    for (int i = 0; i < n->n_in; i++)
        part[i] = g_apply(g, "expand_dims", n->in[i], 1, &at); /* [..., 1 at the axis, ...] */
    return g_joined(g, n->n_in, part, node_int(n, "axis"));
}

/* ---- records ---- */
const op ops_join[] = {
    BODY("concat ... axis:i=0", concat_body, "np.concatenate(x, axis)", NULL,
         "f32[2,3] f32[4,3]\nf32[2,3] f32[2,1] f32[2,2] axis=-1\ni64[3] f64[2]\nf32[0,3] f32[2,3] f32[0,3]\nf32[2]\n"
         "f32[0] f32[0]\nbool[2] bool[3] bool[1] bool[4]\ni32[2,1,3] i64[2,2,3] axis=1\nf32[1,2] f32[0,2]",
         "Tensors joined along an axis they already have.", .adapted = ADAPTED({"Concat 1 T 1.. axis", adapt_concat}),
         .back = "Concat *^ axis=axis", .fan_in = 32, .shape = concat_shape),
    RECIPE("stack ... axis:i=0", stack_lower, "np.stack(x, axis)", NULL,
           "f32[2,3] f32[2,3]\nf32[2,3] f32[2,3] f32[2,3] axis=-1\ni64[] i64[]\nf32[0] f32[0] axis=1",
           "Tensors of equal shape joined along a new axis."),
    BODY("pad a pads:I mode:s=constant value:f=0", pad_body, "pad(a, pads, mode, value)", NULL,
         "f32[2,3] pads=[1,0,0,2]\nf32[2,3] pads=[1,2,3,4] value=-inf\ni64[4] pads=[2,1] value=7\n"
         "f32[2,4] pads=[0,-1,0,2]\nf32[2,4] pads=[0,-1,0,-2]\nf64[2,5] pads=[1,2,1,3] mode=reflect\n"
         "f32[3] pads=[7,8] mode=reflect\nf32[1] pads=[2,2] mode=reflect\nf32[2,3] pads=[2,0,0,3] mode=edge\n"
         "f32[2,3] pads=[2,1,0,3] mode=wrap\nf32[0,2] pads=[1,1,1,0]\nbool[3] pads=[1,1]\nf32[] pads=[]",
         "More (or with negative numbers fewer) elements at both ends of the axes: first all beginnings, then all "
         "ends.",
         .adapted = ADAPTED({"Pad 1 TiTi 1..4 mode paddings pads value", adapt_pad},
                            {"CenterCropPad 18 .i 2 axes", adapt_center}),
         .onnx_cases = "CenterCropPad f32[4,4] i64[2]=3", .shape = pad_shape),
    BODY("tile a reps:I", tile_body, "np.tile(a, reps)", NULL,
         "f32[2,3] reps=[2,1]\nf32[3] reps=[2,2]\ni64[2,1,3] reps=[2]\nf32[2,3] reps=[0,1]\n"
         "f32[0,2] reps=[3,2]\nf32[] reps=[4]",
         "The whole tensor repeated along its axes.", .adapted = ADAPTED({"Tile 1 TnF 2..3", adapt_tile}),
         .onnx_cases = "Tile f32[2,3] f32[]=2 f32[]=1", .shape = tile_shape),
    {0},
};
