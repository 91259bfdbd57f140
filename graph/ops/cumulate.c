/* cumulate.c - what is carried along an axis: running totals, places of running extremes, linear recurrences. Scans of
 * one or two states. */
#include "graph/ir/rule.h"

#include <string.h>

/* ---- helpers ---- */
static const struct {
    const char *op, *fn;
} kinds[] = {{"cumsum", "add"}, {"cumprod", "mul"}, {"cummax", "max"}, {"cummin", "min"}};

static bool widens(const char *f) /* numpy adds and multiplies small integers as 64-bit ones */
{
    return !strcmp(f, "add") || !strcmp(f, "mul");
}

static const node *reversed(graph *g, const node *x, long long axis)
{
    return g_callf(g, 1, &x, "flip axes=[%lld]", axis);
}

/* ---- ONNX ---- */
/* The result keeps the operand's dtype. */
static bool adapt(const onnx_call *c, const node **out, err *e)
{
    int64_t axis;
    int n;
    if (!onnx_ints(c, "", 1, &axis, 1, &n, e))
        return false;
    if (n != 1)
        return err_set(e, TS_BAD_INPUT, "%s: axis has %d numbers, one expected", c->type, n);
    const node *y = onnx_made(c, 1, c->in, ATTRS(attr_int("axis", axis))); /* as in[0] */
    return onnx_give(c, out, y ? g_cast(c->g, y, c->in[0]->type.dtype) : NULL, e);
}

/* ---- shape ---- */
static bool scan_shape(const node *n, type *out, err *e)
{
    const char *f = node_attr(n, "fn")->s;
    int axis;
    *out = n->in[0]->type;
    if (!attr_axis(n, "axis", out->rank, &axis, e))
        return false;
    if (widens(f) && dtype_class(out->dtype) != D_REAL)
        out->dtype = out->dtype == TS_BOOL || dtype_signed(out->dtype) ? TS_I64 : TS_U64;
    for (int i = 0; i < COUNT(kinds); i++)
        if (!strcmp(kinds[i].fn, f))
            return true;
    return err_set(e, TS_BAD_INPUT, "fn: \"%s\" is none of add, mul, max, min", f);
}

static bool place_shape(const node *n, type *out, err *e)
{
    const char *f = node_attr(n, "fn")->s;
    int axis;
    *out = n->in[0]->type, out->dtype = TS_I64;
    if (strcmp(f, "max") && strcmp(f, "min"))
        return err_set(e, TS_BAD_INPUT, "fn: \"%s\" is neither max nor min", f);
    return attr_axis(n, "axis", out->rank, &axis, e);
}

static bool linear_shape(const node *n, type *out, err *e)
{
    int axis;
    *out = n->in[0]->type;
    if (!type_equal(out, &n->in[1]->type) || dtype_class(out->dtype) != D_REAL)
        return operands_refuse(2, n->in, e, "reals of one type");
    return attr_axis(n, "axis", out->rank, &axis, e);
}

/* ---- body ---- */
/* y[..., i, ...] = a[..., 0, ...] + ... + a[..., i, ...]; exclusive: without the last, the total before the step being
 * a second state. */
static const expr *scan_body(defn *d)
{
    const type *t = &d->node->type;
    const dtype own = dtype_class(t->dtype) == D_REAL && ts_dtype_bytes(t->dtype) < 4 ? TS_F32 : t->dtype;
    const fn *f = fn_find(node_attr(d->node, "fn")->s);
    const bool exclusive = node_int(d->node, "exclusive");
    const int axis = defn_axis(d, t->rank);
    const expr *total = x_state(d->mem, own, 0), *before = x_state(d->mem, own, 1), *none = x_unit(d->mem, f, own);
    const expr *start[] = {none, none}, *x = x_cast(d->mem, own, defn_in(d, 0));
    const expr *step[] = {x2(d->mem, f->name, total, x), total};
    return x_scan(d->mem, 0, axis, exclusive ? 2 : 1, start, step,
                  x_cast(d->mem, t->dtype, exclusive ? before : total));
}

/* The largest so far and its place. */
static const expr *place_body(defn *d)
{
    const dtype t = d->node->in[0]->type.dtype;
    const fn *f = fn_find(node_attr(d->node, "fn")->s);
    const bool max = !strcmp(f->name, "max");
    const int axis = defn_axis(d, d->node->type.rank);
    const expr *best = x_state(d->mem, t, 0), *at = x_state(d->mem, TS_I64, 1), *x = defn_in(d, 0);
    const char *how = max ? "best < x || isnan(x) && !isnan(best)" : "x < best || isnan(x) && !isnan(best)";
    const expr *better = x_said(d->mem, how, "x", x, "best", best, NULL);
    const expr *start[] = {x_unit(d->mem, f, t), x_cast(d->mem, TS_I64, x_whole(d->mem, 0))};
    const expr *step[] = {x3(d->mem, "select", better, x, best),
                          x3(d->mem, "select", better, x_axis(d->mem, axis), at)};
    return x_scan(d->mem, 0, axis, 2, start, step, at);
}

/* y[..., i, ...] = a[..., i, ...] y[..., i - 1, ...] + b[..., i, ...], from 0 */
static const expr *linear_body(defn *d)
{
    const type *t = &d->node->type;
    const dtype own = ts_dtype_bytes(t->dtype) < 4 ? TS_F32 : t->dtype;
    const int axis = defn_axis(d, t->rank);
    const expr *y = x_state(d->mem, own, 0), *start = x_cast(d->mem, own, x_real(d->mem, 0));
    const expr *step = x_said(d->mem, "a * y + b", "a", x_cast(d->mem, own, defn_in(d, 0)), "b",
                              x_cast(d->mem, own, defn_in(d, 1)), "y", y, NULL);
    return x_scan(d->mem, 0, axis, 1, &start, &step, x_cast(d->mem, t->dtype, y));
}

/* ---- recipes ---- */
static const node *cumulate_lower(graph *g, const node *n) /* from the end: of the reversed operand, reversed */
{
    const long long axis = node_int(n, "axis");
    const bool reverse = node_int(n, "reverse");
    const node *x = reverse ? reversed(g, n->in[0], axis) : n->in[0];
    const char *how = kinds[ROW_NAMED(kinds, n->op->name)].fn;
    x = g_callf(g, 1, &x, "scan axis=%lld fn=%s exclusive=%d", axis, how, node_int(n, "exclusive") != 0);
    return reverse ? reversed(g, x, axis) : x;
}

/* ---- grad ---- */
/* x moved by one along the axis, forwards or backwards; 0 comes in. */
static const node *shifted(graph *g, const node *x, int axis, int by)
{
    return g_padded(g, x, axis, by, -by);
}

/* h[i] = b[i] + a[i + 1] h[i + 1] */
static const node *backwards(graph *g, const node *a, const node *b, int axis)
{
    a = reversed(g, shifted(g, a, axis, -1), axis);
    return reversed(g, g_callf(g, NODES(a, reversed(g, b, axis)), "linear_scan axis=%d", axis), axis);
}

/* Of sums: sums from the end. Of products: all before times what those behind make of dy, without a division. Of
 * extremes: dy goes to their places. An exclusive scan is the other one, moved by one. */
static const node *scan_grad(graph *g, const node *call, const node *y, const node *dy, int k)
{
    const char *f = node_attr(call, "fn")->s;
    const node *x = call->in[0];
    int axis;
    (void)k;
    if (!attr_axis(call, "axis", y->type.rank, &axis, &g->err))
        return NULL;
    if (node_int(call, "exclusive"))
        dy = shifted(g, dy, axis, -1);
    if (!strcmp(f, "add"))
        return reversed(g, g_callf(g, NODES(reversed(g, dy, axis)), "scan axis=%d", axis), axis);
    if (!strcmp(f, "mul"))
        return g_call2(g, "multiply", g_callf(g, 1, &x, "scan axis=%d fn=mul exclusive=1", axis),
                       backwards(g, x, dy, axis));
    /* as y */
    const node *in[] = {g_filled(g, &y->type, 0), g_callf(g, 1, &x, "scan_place axis=%d fn=%s", axis, f), dy};
    return g_callf(g, 3, in, "put_along_axis axis=%d reduce=add", axis);
}

static const node *linear_grad(graph *g, const node *call, const node *y, const node *dy, int k)
{
    int axis;
    if (!attr_axis(call, "axis", y->type.rank, &axis, &g->err))
        return NULL;
    const node *h = backwards(g, call->in[0], dy, axis); /* as y */
    return k ? h : g_call2(g, "multiply", h, shifted(g, y, axis, 1));
}

/* ---- records ---- */
#define ALONG "axis:i=0 exclusive:i=0 reverse:i=0"
static const char cases[] = "f32[7]\nf32[3,70] axis=1\nf64[40,3]\ni32[2,9,3] axis=1 exclusive=1\nu8[5] reverse=1\n"
                            "f32[3,7] axis=-1 exclusive=1 reverse=1\nf16[5]\nf32[0,4]\nf32[1,3] exclusive=1\nf32[9]!";

const op ops_cumulate[] = {
    BODY("scan a axis:i=0 fn:s=add exclusive:i=0 -> c", scan_body, "cumulate(fn, a, axis, exclusive, 0)", NULL,
         "f32[7]\nf32[3,70,5] axis=1\ni8[9]! fn=max\ni8[9]! fn=min exclusive=1\nf64[9]! fn=max exclusive=1\nbool[7]",
         "All elements up to each one along an axis, combined; exclusive: those before it.", .shape = scan_shape,
         .grad = scan_grad),
    BODY("scan_place a axis:i=0 fn:s=max -> c", place_body, "running_place(fn, a, axis)", NULL,
         "f32[9]!\nf32[3,70] axis=1\ni64[40,3]<4 fn=min\nu8[7]",
         "The place of the largest or smallest of all elements up to each one along an axis.", .shape = place_shape),
    BODY("linear_scan a b axis:i=0 -> c", linear_body, "linear_scan(a, b, axis)", NULL,
         "f32[7] f32[7]\nf64[3,9] f64[3,9] axis=1\nf32[5,1,4] f32[5,1,4]\nf32[1] f32[1]\nf16[4] f16[4]",
         "Along an axis each element is a times the one before it plus b, from 0.", .shape = linear_shape,
         .grad = linear_grad),
    RECIPE("cumsum a " ALONG " -> c", cumulate_lower, "cumulate('add', a, axis, exclusive, reverse)", NULL, cases,
           "Sums of all elements up to each one along an axis.",
           .adapted = ADAPTED({"CumSum 11 ni 2 exclusive reverse", adapt}), .onnx_cases = "CumSum f32[3,4] i64[]=1"),
    RECIPE("cumprod a " ALONG " -> c", cumulate_lower, "cumulate('mul', a, axis, exclusive, reverse)", NULL, cases,
           "Products of all elements up to each one along an axis.",
           .adapted = ADAPTED({"CumProd 26 ni 2 exclusive reverse", adapt}), .onnx_cases = "CumProd f32[3,4] i64[]=1"),
    RECIPE("cummax a " ALONG " -> c", cumulate_lower, "cumulate('max', a, axis, exclusive, reverse)", NULL, cases,
           "Largest of all elements up to each one along an axis."),
    RECIPE("cummin a " ALONG " -> c", cumulate_lower, "cumulate('min', a, axis, exclusive, reverse)", NULL, cases,
           "Smallest of all elements up to each one along an axis."),
    {0},
};
