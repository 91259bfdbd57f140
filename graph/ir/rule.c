/* rule.c - shape rules, axes, and small helpers shared by the files of graph/ops/. */
#include "graph/ir/rule.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- shape rules ---- */
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

/* ---- axes ---- */
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
            return err_set(e, TS_BAD_INPUT, "%s: axis %lld is listed twice", a->name, (long long)a->ints[i]);
        *set |= 1u << axis;
    }
    return true;
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
const expr *x_offset(arena *m, const expr *x, int64_t scale, int64_t offset)
{
    return x2(m, "add", x2(m, "mul", x, x_whole(m, scale)), x_whole(m, offset));
}

const expr *x_inside(arena *m, const expr *x, int64_t low, int64_t high)
{
    return x2(m, "and", x2(m, "le", x_whole(m, low), x), x2(m, "lt", x, x_whole(m, high)));
}

const expr *x_weighted(arena *m, int n, const double *weight, const expr *const *part)
{
    const expr *sum = NULL;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < n; i++) {
            const double by = weight[i] < 0 ? -weight[i] : weight[i];
            if (by == 0 || (weight[i] < 0) != pass)
                continue;
            const expr *x = by == 1 ? part[i] : x2(m, "mul", part[i], x_real(m, by));
            sum = sum ? x2(m, pass ? "sub" : "add", sum, x) : pass ? x1(m, "neg", x) : x;
        }
    return sum;
}

const expr *x_chosen(arena *m, const expr *which, int n, const expr *const *of)
{
    const expr *x = of[n - 1];
    for (int i = n - 1; i-- > 0;) /* a choice between literals alone would have a dtype of its own */
        x = x_same(of[i], x) ? x : x3(m, "select", x2(m, "lt", which, x_whole(m, i + 1)), of[i], x);
    return x;
}

const expr *x_place(arena *m, const expr *place, int64_t extent)
{
    const expr *i = x_cast(m, TS_I64, place);
    if (dtype_signed(place->dtype))
        i = x3(m, "select", x2(m, "lt", i, x_whole(m, 0)), x2(m, "add", i, x_whole(m, extent)), i);
    return x2(m, "at", i, x_whole(m, extent));
}

const expr *x_literal(arena *m, dtype d, double v)
{
    if (dtype_class(d) == D_REAL)
        return x_real(m, v);
    unsigned char bytes[16];
    store_real(d, bytes, 0, v);
    return x_whole(m, load_whole(d, bytes, 0));
}

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
    return err_set(e, TS_UNSUPPORTED, "element type %lld of ONNX is not supported", (long long)code);
}

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
        return err_set(e, TS_BAD_INPUT, "%s: axis %lld for ranks %d and %d", c->type, (long long)axis, a->rank,
                       b->rank);
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

bool onnx_give(const onnx_call *c, const node **out, const node *result, err *e)
{
    out[0] = result;
    return result || err_set(e, c->g->err.code ? c->g->err.code : TS_BUG, "%s", c->g->err.text);
}
