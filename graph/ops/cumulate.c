/* cumulate.c - running totals along an axis: scans of one or two states. */
#include "graph/rule.h"

#include <math.h>
#include <string.h>

/* ---- helpers ---- */
static const struct {
    const char *op, *fn;
} kinds[] = {{"cumsum", "add"}, {"cumprod", "mul"}, {"cummax", "max"}, {"cummin", "min"}};

static bool widens(const char *f) /* numpy adds and multiplies small integers as 64-bit ones */
{
    return !strcmp(f, "add") || !strcmp(f, "mul");
}

/* What nothing combined gives. */
static const expr *start_of(arena *m, const fn *f, dtype d)
{
    double v = f->unit;
    if (dtype_class(d) != D_REAL && v < 0)
        v = dtype_lowest(d);
    else if (dtype_class(d) != D_REAL && v > 1)
        v = dtype_signed(d) ? -1 - dtype_lowest(d) : ldexp(1, 8 * ts_dtype_bytes(d)) - 1;
    return x_cast(m, d, x_literal(m, d, v));
}

/* ---- ONNX ---- */
/* The result keeps the operand's dtype. */
static bool adapt(const onnx_call *c, const char *op_name, const node **out, err *e)
{
    int64_t axis;
    int n;
    if (!onnx_need(c, 2, e) || !onnx_ints(c, "", 1, &axis, 1, &n, e))
        return false;
    if (n != 1)
        return err_set(e, TS_BAD_INPUT, "%s: axis is not one number", c->type);
    const dtype d = c->in[0]->type.dtype;
    const attr list[] = {attr_int("axis", axis), attr_int("exclusive", onnx_int(c, "exclusive", 0)),
                         attr_int("reverse", onnx_int(c, "reverse", 0))};
    const node *y = g_apply(c->g, op_name, c->in[0], COUNT(list), list);
    if (y && y->type.dtype != d)
        y = g_apply(c->g, "cast", y, 1, (attr[]){attr_word("to", ts_dtype_name(d))});
    return onnx_give(c, out, y, e);
}

static bool adapt_cumsum(const onnx_call *c, const node **out, err *e)
{
    return adapt(c, "cumsum", out, e);
}

static bool adapt_cumprod(const onnx_call *c, const node **out, err *e)
{
    return adapt(c, "cumprod", out, e);
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

/* ---- body ---- */
/* y[..., i, ...] = a[..., 0, ...] + ... + a[..., i, ...]; exclusive: without the last, the total before the step being a
 * second state. */
static bool scan_body(defn *d, err *e)
{
    const type *t = &d->node->type;
    const dtype own = dtype_class(t->dtype) == D_REAL && ts_dtype_bytes(t->dtype) < 4 ? TS_F32 : t->dtype;
    const fn *f = fn_find(node_attr(d->node, "fn")->s);
    const bool exclusive = node_int(d->node, "exclusive");
    int axis;
    if (!attr_axis(d->node, "axis", t->rank, &axis, e))
        return false;
    const expr *total = x_state(d->mem, own, 0), *before = x_state(d->mem, own, 1), *none = start_of(d->mem, f, own);
    const expr *start[] = {none, none}, *step[] = {x2(d->mem, f->name, total, x_cast(d->mem, own, defn_in(d, 0))), total};
    d->value = x_walk(d->mem, 0, axis, exclusive ? 2 : 1, start, step,
                      x_cast(d->mem, t->dtype, exclusive ? before : total));
    return true;
}

/* ---- recipes ---- */
static const node *cumulate_lower(graph *g, const node *n) /* from the end: of the reversed operand, reversed */
{
    const long long axis = node_int(n, "axis");
    const bool reverse = node_int(n, "reverse");
    const node *x = n->in[0];
    int i = 0;
    while (strcmp(kinds[i].op, n->op->name))
        i++;
    if (reverse)
        x = g_callf(g, 1, &x, "flip axes=[%lld]", axis);
    x = g_callf(g, 1, &x, "scan axis=%lld fn=%s exclusive=%d", axis, kinds[i].fn, node_int(n, "exclusive") != 0);
    return reverse ? g_callf(g, 1, &x, "flip axes=[%lld]", axis) : x;
}

/* ---- records ---- */
static const attr_spec along[] = {{"axis", 'i', "0"}, {"exclusive", 'i', "0"}, {"reverse", 'i', "0"}, {0}};
static const char cases[] = "f32[7]\nf32[3,70] axis=1\nf64[40,3]\ni32[2,9,3] axis=1 exclusive=1\nu8[5] reverse=1\n"
                            "f32[3,7] axis=-1 exclusive=1 reverse=1\nf16[5]\nf32[0,4]\nf32[1,3] exclusive=1\nf32[9]!";

static const op scan_op = {
    .name = "scan", .doc = "All elements up to each one along an axis, combined; exclusive: those before it.",
    .numpy = "cumulate(fn, a, axis, exclusive, 0)",
    .arity = 1, .axes = "c",
    .attr = (const attr_spec[]){{"axis", 'i', "0"}, {"fn", 's', "add"}, {"exclusive", 'i', "0"}, {0}},
    .shape = scan_shape, .body = scan_body,
    .cases = "f32[7]\nf32[3,70,5] axis=1\ni8[9]! fn=max\ni8[9]! fn=min exclusive=1\nf64[9]! fn=max exclusive=1\nbool[7]"};

static const op cumsum_op = {
    .name = "cumsum", .doc = "Sums of all elements up to each one along an axis.",
    .numpy = "cumulate('add', a, axis, exclusive, reverse)",
    .onnx = (const onnx_rule[]){{"CumSum", 11, adapt_cumsum}, {0}},
    .arity = 1, .axes = "c", .attr = along, .lower = cumulate_lower, .cases = cases};

static const op cumprod_op = {
    .name = "cumprod", .doc = "Products of all elements up to each one along an axis.",
    .numpy = "cumulate('mul', a, axis, exclusive, reverse)",
    .onnx = (const onnx_rule[]){{"CumProd", 26, adapt_cumprod}, {0}},
    .arity = 1, .axes = "c", .attr = along, .lower = cumulate_lower, .cases = cases};

static const op cummax_op = {
    .name = "cummax", .doc = "Largest of all elements up to each one along an axis.",
    .numpy = "cumulate('max', a, axis, exclusive, reverse)",
    .arity = 1, .axes = "c", .attr = along, .lower = cumulate_lower, .cases = cases};

static const op cummin_op = {
    .name = "cummin", .doc = "Smallest of all elements up to each one along an axis.",
    .numpy = "cumulate('min', a, axis, exclusive, reverse)",
    .arity = 1, .axes = "c", .attr = along, .lower = cumulate_lower, .cases = cases};

const op *const ops_cumulate[] = {&scan_op, &cumsum_op, &cumprod_op, &cummax_op, &cummin_op, NULL};
