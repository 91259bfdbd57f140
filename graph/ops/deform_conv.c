/* deform_conv.c - convolution whose kernel points are moved by offsets that an operand gives for every place of the
 * result: x is read between its elements, linearly, and outside there are zeros. */
#include "graph/window.h"

#include <string.h>

/* ---- helpers ---- */
typedef struct deformed {
    window w;
    int64_t groups, offset_groups, points; /* points: of a kernel */
} deformed;

static bool read_deformed(const node *n, deformed *f, err *e)
{
    const type *x = &n->in[0]->type, *w = &n->in[1]->type;
    *f = (deformed){.groups = node_int(n, "group"), .offset_groups = node_int(n, "offset_group"), .points = 1};
    if (x->rank != w->rank)
        return err_set(e, TS_BAD_INPUT, "input of rank %d, weight of rank %d", x->rank, w->rank);
    if (!window_read(n, w->dim + 2, &f->w, e))
        return false;
    if (f->groups < 1 || w->dim[0] % f->groups || x->dim[1] % f->groups || x->dim[1] / f->groups != w->dim[1] ||
        f->offset_groups < 1 || x->dim[1] % f->offset_groups)
        return err_set(e, TS_BAD_INPUT,
                       "%lld input channels in %lld groups, %lld of offsets; the weight takes %lld, gives %lld",
                       (long long)x->dim[1], (long long)f->groups, (long long)f->offset_groups, (long long)w->dim[1],
                       (long long)w->dim[0]);
    for (int s = 0; s < f->w.n; s++)
        f->points *= f->w.kernel[s];
    return true;
}

/* Operand i is [batch, rows, out...]. */
static bool moves_with(const node *n, int i, const deformed *f, int64_t rows, err *e)
{
    const type *t = &n->in[i]->type;
    bool fits = t->rank == f->w.n + 2 && t->dim[0] == n->in[0]->type.dim[0] && t->dim[1] == rows &&
                dtype_class(t->dtype) == D_REAL;
    for (int s = 0; fits && s < f->w.n; s++)
        fits = t->dim[s + 2] == f->w.out[s];
    return fits || err_set(e, TS_BAD_INPUT, "operand %d must be reals [batch, %lld, and the places of the result]",
                           i + 1, (long long)rows);
}

/* ---- ONNX ---- */
static bool adapt_deform_conv(const onnx_call *c, const node **out, err *e)
{
    graph *g = c->g;
    attr list[5];
    if (!onnx_need(c, 3, e))
        return false;
    const type *x = &c->in[0]->type, *w = &c->in[1]->type, *offset = &c->in[2]->type;
    if (x->rank != w->rank || offset->rank != x->rank)
        return err_set(e, TS_BAD_INPUT, "DeformConv: ranks %d, %d and %d differ", x->rank, w->rank, offset->rank);
    if (!window_adapt(c, w->dim + 2, list, e))
        return false;
    list[3] = attr_int("group", onnx_int(c, "group", 1));
    list[4] = attr_int("offset_group", onnx_int(c, "offset_group", 1));
    type ones = *offset;
    ones.dim[1] /= x->rank - 2;
    const node *mask = onnx_in(c, 4) ? onnx_in(c, 4) : g_filled(g, &ones, 1);
    const node *in[] = {c->in[0], c->in[1], c->in[2], mask};
    const node *y = g_make(g, op_find("deform_conv"), COUNT(in), in, list, COUNT(list));
    if (y && onnx_in(c, 3)) {
        int64_t shape[MAX_RANK] = {onnx_in(c, 3)->type.rank ? onnx_in(c, 3)->type.dim[0] : 1, 1, 1, 1};
        y = g_call2(g, "add", y, g_reshape(g, onnx_in(c, 3), x->rank - 1, shape));
    }
    return onnx_give(c, out, y, e);
}

/* ---- shape ---- */
static bool deform_shape(const node *n, type *out, err *e)
{
    const type *x = &n->in[0]->type, *w = &n->in[1]->type;
    deformed f;
    if (!read_deformed(n, &f, e) || !moves_with(n, 2, &f, f.offset_groups * f.points * f.w.n, e) ||
        !moves_with(n, 3, &f, f.offset_groups * f.points, e))
        return false;
    *out = (type){.dtype = dtype_promote(x->dtype, w->dtype), .rank = x->rank, .dim = {x->dim[0], w->dim[0]}};
    for (int s = 0; s < f.w.n; s++)
        out->dim[s + 2] = f.w.out[s];
    return dtype_class(out->dtype) == D_REAL || err_set(e, TS_BAD_INPUT, "%s: reals are wanted",
                                                        ts_dtype_name(out->dtype));
}

/* ---- body ---- */
/* y[n, oc, o...] = sum over ic, k..., taps t... of the product over axes of the taps' linear weights
 *     * x[n, first(oc) + ic, floor(p) + t...] * mask[n, (og, k...), o...] * w[oc, ic, k...]
 * with p = o * stride - before + k * dilation + offset[n, (og, k..., s), o...], og the channel's group of offsets. */
static bool deform_body(defn *d, err *e)
{
    arena *m = d->mem;
    const type *x = &d->node->in[0]->type, *w = &d->node->in[1]->type;
    const expr *at[MAX_RANK], *weight[MAX_RANK], *row[MAX_RANK], *inside = NULL;
    deformed f;
    if (!read_deformed(d->node, &f, e))
        return false;
    const int64_t inputs = w->dim[1], outputs = w->dim[0] / f.groups, each = x->dim[1] / f.offset_groups;
    int axis = defn_fold(d, inputs);
    uint32_t folds = 1u << axis;
    weight[0] = x_axis(m, 1), weight[1] = x_axis(m, axis), at[0] = row[0] = x_axis(m, 0);
    const expr *set = x2(m, "floordiv", x_axis(m, 1), x_whole(m, outputs ? outputs : 1));
    at[1] = x2(m, "add", x2(m, "mul", set, x_whole(m, inputs)), weight[1]);
    const expr *point = x2(m, "floordiv", at[1], x_whole(m, each ? each : 1)); /* (og, k...) */
    for (int s = 0; s < f.w.n; s++) {
        axis = defn_fold(d, f.w.kernel[s]), folds |= 1u << axis;
        weight[s + 2] = x_axis(m, axis), row[s + 2] = x_axis(m, s + 2);
        point = x2(m, "add", x_offset(m, point, f.w.kernel[s], 0), weight[s + 2]);
    }
    row[1] = point;
    const expr *product = x2(m, "mul", defn_at(d, 1, weight), defn_at(d, 3, row));
    for (int s = 0; s < f.w.n; s++) {
        const int64_t extent = x->dim[s + 2];
        row[1] = x_offset(m, point, f.w.n, s);
        const expr *offset = defn_at(d, 2, row);
        const expr *p = x2(m, "add", offset,
                           x_cast(m, offset->dtype, window_place(m, &f.w, s, x_axis(m, s + 2), weight[s + 2])));
        const expr *base = x1(m, "floor", p), *rest = x2(m, "sub", p, base);
        axis = defn_fold(d, 2), folds |= 1u << axis;
        const expr *tap = x_axis(m, axis), *place = x2(m, "add", base, x_cast(m, base->dtype, tap));
        const expr *here = x2(m, "and", x2(m, "le", x_real(m, 0), place),
                              x2(m, "le", place, x_real(m, (double)(extent - 1))));
        product = x2(m, "mul", product, x3(m, "select", x2(m, "eq", tap, x_whole(m, 0)),
                                           x2(m, "sub", x_real(m, 1), rest), rest));
        inside = inside ? x2(m, "and", inside, here) : here;
        at[s + 2] = x_cast(m, TS_I64, place);
    }
    const expr *read = x3(m, "select", inside, defn_at(d, 0, at), x_whole(m, 0));
    d->value = x_fold(m, "add", folds, x2(m, "mul", x_cast(m, d->node->type.dtype, read), product));
    return true;
}

/* ---- record ---- */
static const op deform_op = {
    .name = "deform_conv",
    .doc = "Convolution of x with w whose points are moved by offsets [n, group of offsets and point and axis, out...] "
           "and weighed by a mask [n, group of offsets and point, out...].",
    .numpy = "deform_conv(a, b, c, d, strides, dilations, pads, group, offset_group)",
    .onnx = (const onnx_rule[]){{"DeformConv", 19, adapt_deform_conv}, {0}},
    .onnx_cases = "DeformConv f32[1,2,5,4] f32[3,2,2,2] f32[1,8,4,3]",
    .arity = 4, .axes = "n oc oh ow | ic kh kw",
    .attr = (const attr_spec[]){{"strides", 'I', ""},
                                {"dilations", 'I', ""},
                                {"pads", 'I', ""},
                                {"group", 'i', "1"},
                                {"offset_group", 'i', "1"},
                                {0}},
    .shape = deform_shape, .body = deform_body,
    .cases = "f32[1,2,5,4] f32[3,2,2,2] f32[1,8,4,3] f32[1,4,4,3]\n"
             "f64[2,4,5,5] f64[2,2,3,2] f64[2,24,3,3] f64[2,12,3,3] group=2 offset_group=2 strides=[2,2] "
             "pads=[1,0,1,1]\n"
             "f64[1,2,7] f64[2,1,3] f64[1,3,3] f64[1,3,3] group=2 dilations=[2]\n"
             "f32[1,1,3,3,2] f32[1,1,2,1,2] f32[1,12,2,3,1] f32[1,4,2,3,1]"};

const op *const ops_deform_conv[] = {&deform_op, NULL};
