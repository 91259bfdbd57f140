/* rule.c - shape rules, axes, and small helpers shared by the files of graph/ops/. */
#include "graph/ir/rule.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- shape rules ---- */
/* Shape and dtype as numpy's of a pointwise call. */
static bool broadcast(const node *n, type *out, err *e)
{
    const type *in[4];
    MUST(n->n_in >= 1 && n->n_in <= COUNT(in));
    for (int i = 0; i < n->n_in; i++)
        in[i] = &n->in[i]->type;
    if (!type_broadcast(n->n_in, in, out, e))
        return false;
    out->dtype = in[0]->dtype;
    for (int i = 1; i < n->n_in; i++)
        out->dtype = dtype_promote(out->dtype, in[i]->dtype);
    return true;
}

bool shape_first(const node *n, type *out, err *e)
{
    (void)e;
    *out = n->in[0]->type;
    return true;
}

/* For exp, sqrt and the like, which make reals of whole numbers. */
bool shape_float(const node *n, type *out, err *e)
{
    if (!broadcast(n, out, e))
        return false;
    out->dtype = dtype_float(out->dtype);
    return true;
}

bool shape_bool(const node *n, type *out, err *e)
{
    if (!broadcast(n, out, e))
        return false;
    out->dtype = TS_BOOL;
    return true;
}

bool operands_refuse(int n, const node *const *in, err *e, const char *fmt, ...)
{
    text given = {0};
    char wanted[512];
    va_list list;
    va_start(list, fmt);
    vsnprintf(wanted, sizeof wanted, fmt, list);
    va_end(list);
    for (int i = 0; i < n; i++) {
        text_add(&given, "%s", !i ? "" : i == n - 1 ? " and " : ", ");
        if (in[i])
            type_print(&given, &in[i]->type);
        else
            text_add(&given, "none");
    }
    err_set(e, TS_BAD_INPUT, "given %.1000s; %s expected", n ? text_str(&given) : "nothing", wanted);
    text_free(&given);
    return false;
}

bool g_takes(graph *g, const node *n, int least, int most)
{
    if (n->n_in >= least && n->n_in <= most)
        return true;
    g_fail(g, TS_BAD_INPUT, "%d operands given, takes %d to %d", n->n_in, least, most);
    return false;
}

/* ---- axes ---- */
/* Left out means all axes, as numpy's axis=None. */
bool axes_set(const attr *a, int rank, uint32_t *set, err *e)
{
    *set = 0;
    if (a->kind == '-')
        return *set = (1u << rank) - 1, true;
    for (int i = 0; i < a->n; i++) {
        int axis;
        if (!axis_norm(a->ints[i], rank, &axis, e))
            return err_in(e, "%s", a->name);
        if (*set >> axis & 1)
            return err_set(e, TS_BAD_INPUT, "%s: axis %lld is listed twice, once expected", a->name,
                           (long long)a->ints[i]);
        *set |= 1u << axis;
    }
    return true;
}

bool attr_dtype(const node *n, const char *name, dtype *out, err *e)
{
    return dtype_read(node_attr(n, name)->s, out, e) || err_in(e, "%s", name);
}

bool attr_axis(const node *n, const char *name, int rank, int *out, err *e)
{
    return axis_norm(node_int(n, name), rank, out, e) || err_in(e, "%s", name);
}

/* ---- calls ---- */
attr attr_int(const char *name, int64_t v)
{
    return (attr){.name = name, .kind = 'i', .i = v};
}

attr attr_real(const char *name, double v)
{
    return (attr){.name = name, .kind = 'f', .f = v};
}

attr attr_word(const char *name, const char *v)
{
    return (attr){.name = name, .kind = 's', .s = v};
}

attr attr_ints(const char *name, int n, const int64_t *v)
{
    return (attr){.name = name, .kind = 'I', .n = n, .ints = v};
}

const node *g_apply(graph *g, const char *op_name, const node *a, int n_attr, const attr *list)
{
    const op *o = op_find(op_name);
    MUST(o);
    return g_make(g, o, 1, &a, list, n_attr);
}

/* A count that a file states must not decide how much memory its nodes take: each step has nodes of its own. */
bool g_may_write_out(graph *g, int64_t steps)
{
    enum { MOST = 1 << 16 };
    if (steps <= MOST)
        return true;
    g_fail(g, TS_MEMORY, "%lld steps, each written out: at most %d are", (long long)steps, MOST);
    return err_hint(&g->err, "no option raises this: run shorter pieces, from state to state");
}

const node *g_scalar_like(graph *g, const node *a, double v)
{
    return a ? g_scalar(g, a->type.dtype, v) : NULL;
}

/* ---- expressions ---- */
/* scale x + offset */
const expr *x_offset(arena *mem, const expr *x, int64_t scale, int64_t offset)
{
    return x2(mem, "add", x2(mem, "mul", x, x_whole(mem, scale)), x_whole(mem, offset));
}

/* low <= x < high */
const expr *x_inside(arena *mem, const expr *x, int64_t low, int64_t high)
{
    return x2(mem, "and", x2(mem, "le", x_whole(mem, low), x), x2(mem, "lt", x, x_whole(mem, high)));
}

/* sum of weight * part, positive weights first, so that it rarely starts with a negation; 0 is left out, 1 not
 * multiplied. */
const expr *x_weighted(arena *mem, int n, const double *weight, const expr *const *part)
{
    const expr *sum = NULL;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < n; i++) {
            const double by = weight[i] < 0 ? -weight[i] : weight[i];
            if (by == 0 || (weight[i] < 0) != pass)
                continue;
            const expr *x = by == 1 ? part[i] : x2(mem, "mul", part[i], x_real(mem, by));
            sum = sum ? x2(mem, pass ? "sub" : "add", sum, x) : pass ? x1(mem, "neg", x) : x;
        }
    return sum;
}

const expr *x_chosen(arena *mem, const expr *which, int n, const expr *const *of)
{
    const expr *x = of[n - 1];
    for (int i = n - 1; i-- > 0;) /* a choice between literals alone would have a dtype of its own */
        x = x_same(of[i], x) ? x : x3(mem, "select", x2(mem, "lt", which, x_whole(mem, i + 1)), of[i], x);
    return x;
}

/* Negative places count from the end, as in numpy; `at` tests the rest when it runs. */
const expr *x_place(arena *mem, const expr *place, int64_t extent)
{
    const expr *i = x_cast(mem, TS_I64, place);
    if (dtype_signed(place->dtype))
        i = x3(mem, "select", x2(mem, "lt", i, x_whole(mem, 0)), x2(mem, "add", i, x_whole(mem, extent)), i);
    return x2(mem, "at", i, x_whole(mem, extent));
}

/* Rounded and bounded as a cast to d would. */
const expr *x_literal(arena *mem, dtype d, double v)
{
    if (dtype_class(d) == D_REAL)
        return x_real(mem, v);
    unsigned char bytes[16];
    store_real(d, bytes, 0, v);
    return x_whole(mem, load_whole(d, bytes, 0));
}

/* What max starts with: -inf, -2^(bits - 1), 0. */
double dtype_lowest(dtype d)
{
    if (dtype_class(d) == D_REAL)
        return -INFINITY;
    return dtype_signed(d) ? -ldexp(1, dtype_bits(d) - 1) : 0;
}

/* ---- ONNX ---- */
const node *onnx_in(const onnx_call *c, int i)
{
    return i < c->n_in ? c->in[i] : NULL;
}

/* Lengths that a run says are not seen here; their reads are tested as they happen. */
bool onnx_lengths(const onnx_call *c, int i, int64_t least, int64_t time, err *e)
{
    const node *n = onnx_in(c, i);
    const ts_array *a = n ? g_constant(c->g, n, 1 << 20) : NULL;
    for (int64_t k = 0; a && k < ts_array_count(a); k++) {
        const int64_t v = load_whole(a->dtype, a->data, k);
        if (v < least || v > time)
            return err_set(e, TS_BAD_INPUT, "%s: sequence %lld has length %lld, expected %lld to %lld", c->type,
                           (long long)k, (long long)v, (long long)least, (long long)time);
    }
    return true;
}

/* An operand may be left out by an empty name: a count alone does not say that it is there. */
bool onnx_need(const onnx_call *c, int n, err *e)
{
    for (int i = 0; i < n; i++)
        if (!onnx_in(c, i))
            return err_set(e, TS_BAD_INPUT, "%s needs %d operands, number %d is missing", c->type, n, i + 1);
    return true;
}

bool onnx_must(const onnx_call *c, const char *name, err *e)
{
    return onnx_attr(c, name) || err_set(e, TS_BAD_INPUT, "attribute %s is missing; it has no default", name);
}

bool onnx_has(const onnx_call *c, const char *name, int i)
{
    return onnx_attr(c, name) || onnx_in(c, i);
}

/* Of Flatten and its like: between axes, so rank itself is allowed. */
bool onnx_cut(const onnx_call *c, int64_t fallback, int rank, int64_t *out, err *e)
{
    const int64_t axis = onnx_int(c, "axis", fallback);
    if (axis >= -rank && axis <= rank)
        return *out = axis < 0 ? axis + rank : axis, true;
    err_set(e, TS_BAD_INPUT, "axis %lld is out of range for rank %d", (long long)axis, rank);
    return err_hint(e, "axes go from %d to %d", -rank, rank);
}

const char *onnx_word(const onnx_call *c, const char *name, const char *fallback)
{
    const attr *a = onnx_attr(c, name);
    return a && a->kind == 's' ? a->s : fallback;
}

/* TensorProto.DataType; those left out have no dtype here: strings and complex numbers. */
static const struct {
    int code;
    dtype dtype;
} element_types[] = {{1, TS_F32},     {2, TS_U8},          {3, TS_I8},    {4, TS_U16},       {5, TS_I16},
                     {6, TS_I32},     {7, TS_I64},         {9, TS_BOOL},  {10, TS_F16},      {11, TS_F64},
                     {12, TS_U32},    {13, TS_U64},        {16, TS_BF16}, {17, TS_F8E4M3FN}, {18, TS_F8E4M3FNUZ},
                     {19, TS_F8E5M2}, {20, TS_F8E5M2FNUZ}, {21, TS_U4},   {22, TS_I4},       {23, TS_F4E2M1},
                     {24, TS_F8E8M0}, {25, TS_U2},         {26, TS_I2}};

bool onnx_dtype(int64_t code, dtype *out, err *e)
{
    for (int i = 0; i < COUNT(element_types); i++)
        if (element_types[i].code == code)
            return *out = element_types[i].dtype, true;
    return err_set(e, TS_UNSUPPORTED, "element type %lld of ONNX is not supported, reals, integers or bool expected",
                   (long long)code);
}

/* 0 (UNDEFINED) for what ONNX has no number for. */
int onnx_code(dtype d)
{
    for (int i = 0; i < COUNT(element_types); i++)
        if (element_types[i].dtype == d)
            return element_types[i].code;
    return 0;
}

bool onnx_number(const onnx_call *c, int i, double *out, err *e)
{
    const node *n = onnx_in(c, i);
    if (!n)
        return true;
    const ts_array *v = g_value(c->g, n, 1);
    if (!v || ts_array_count(v) != 1)
        return onnx_wait(c, e, "%s: operand %d is not a constant number", c->type, i + 1);
    *out = ts_array_at(v, 0);
    return true;
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

bool onnx_adapt_aligned(const onnx_call *c, const char *op_name, const node **out, err *e)
{
    const node *pair[2];
    return onnx_aligned(c, pair, e) && onnx_give(c, out, g_call(c->g, op_name, 2, pair), e);
}

/* The graph keeps the first error, which is the cause; this passes it on. */
bool onnx_give(const onnx_call *c, const node **out, const node *result, err *e)
{
    out[0] = result;
    return result || err_set(e, c->g->err.code ? c->g->err.code : TS_BUG, "%s", c->g->err.text);
}
