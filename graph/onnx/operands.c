/* operands.c - operands and attributes of calls, read as adapters need them. */
#include "graph/eval/eval.h"
#include "graph/ir/rule.h"

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

bool onnx_all(const onnx_call *c, const char *which, err *e)
{
    for (int i = 0; which[i]; i++)
        if (which[i] == '1' && !onnx_in(c, i))
            return err_set(e, TS_BAD_INPUT, "%s: operand %d is missing", c->type, i + 1);
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

bool onnx_axes(const onnx_call *c, int i, int *n, int axis[MAX_RANK], err *e)
{
    const int rank = *n = c->in[0]->type.rank;
    int64_t listed[MAX_RANK];
    for (int k = 0; k < rank; k++)
        axis[k] = k;
    if (!onnx_attr(c, "axes") && (i < 0 || !onnx_in(c, i)))
        return true;
    bool ok = onnx_ints(c, "axes", i, listed, MAX_RANK, n, e);
    for (int k = 0; k < *n && ok; k++)
        ok = axis_norm(listed[k], rank, &axis[k], e);
    return ok;
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
    const ts_array *v = type_count(&n->type) == 1 ? g_needed(c->g, n) : NULL;
    if (!v || ts_array_count(v) != 1)
        return g_wait(c->g, e, "%s: operand %d is not a constant number", c->type, i + 1);
    *out = ts_array_at(v, 0);
    return true;
}

/* The graph keeps the first error, which is the cause; this passes it on. */
bool onnx_give(const onnx_call *c, const node **out, const node *result, err *e)
{
    out[0] = result;
    return result || err_set(e, c->g->err.code ? c->g->err.code : TS_BUG, "%s", c->g->err.text);
}

bool onnx_give_all(const onnx_call *c, const node **out, int n, const node *const *result, err *e)
{
    for (int i = 0; i < n && i < c->n_out; i++)
        if (!onnx_give(c, out + i, result[i], e))
            return false;
    return true;
}
