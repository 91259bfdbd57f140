/* leaf.c - what a graph starts from: inputs, weights and constants, and in a trip of a scan its operands. They have a
 * type but no definition; ONNX operators whose result is known once shapes are (Constant, Shape, Size) become constants
 * here. */
#include "graph/ir/rule.h"

/* ---- ONNX ---- */
static bool constant_tensor(const onnx_call *c, const ts_array *a, const node **out, err *e)
{
    type t = {.dtype = a->dtype, .rank = a->rank};
    for (int i = 0; i < a->rank; i++)
        t.dim[i] = a->dim[i];
    return onnx_give(c, out, g_const(c->g, "", &t, a->data), e);
}

static bool adapt_constant(const onnx_call *c, const node **out, err *e)
{
    for (int i = 0; i < c->n_attr; i++) {
        const attr *a = &c->attr[i];
        if (c->tensor && c->tensor[i])
            return constant_tensor(c, c->tensor[i], out, e);
        if (a->kind == 'i')
            return onnx_give(c, out, g_const(c->g, "", &(type){.dtype = TS_I64}, &a->i), e);
        if (a->kind == 'f')
            return onnx_give(c, out, g_scalar(c->g, TS_F32, a->f), e);
        if (a->kind == 'I')
            return onnx_give(c, out, g_ints(c->g, a->n, a->ints), e);
        if (a->kind != 'F')
            continue;
        float *v = arena_array(&c->g->mem, (size_t)a->n + 1, sizeof *v);
        for (int k = 0; k < a->n; k++)
            v[k] = (float)a->reals[k];
        return onnx_give(c, out, g_const(c->g, "", &(type){.dtype = TS_F32, .rank = 1, .dim = {a->n}}, v), e);
    }
    return err_set(e, TS_UNSUPPORTED, "Constant with %s, a dense tensor of numbers expected",
                   c->n_attr ? c->attr[0].name : "no attribute");
}

/* Bounds of a range of dimensions as in Python's shape[start:end]. */
static int clamp_dim(int64_t i, int rank)
{
    if (i < 0)
        i += rank;
    return i < 0 ? 0 : i > rank ? rank : (int)i;
}

static bool adapt_shape(const onnx_call *c, const node **out, err *e)
{
    const type *t = &c->in[0]->type;
    const int first = clamp_dim(onnx_int(c, "start", 0), t->rank),
              last = clamp_dim(onnx_int(c, "end", t->rank), t->rank);
    return onnx_give(c, out, g_ints(c->g, last > first ? last - first : 0, t->dim + first), e);
}

static bool adapt_size(const onnx_call *c, const node **out, err *e)
{
    const int64_t count = type_count(&c->in[0]->type);
    return onnx_give(c, out, g_const(c->g, "", &(type){.dtype = TS_I64}, &count), e);
}

/* A weight of numbers from a seed, of a file that has none yet: "tessera.parameter", to be trained or tried. Extents of
 * -1 are left to its first use. */
static bool make_parameter(const onnx_call *c, onnx_value *out, err *e)
{
    type t = {.dtype = TS_F32};
    const char *d = onnx_word(c, "dtype", "f32");
    if (!*c->name)
        return err_set(e, TS_BAD_INPUT, "the parameter has no name, one expected under which it is trained and kept");
    if (!dtype_parse(d, &t.dtype) || !dtype_real(t.dtype))
        return err_set(e, TS_BAD_INPUT, "dtype \"%s\", expected one of real numbers, as \"f32\"", d);
    if (!onnx_ints(c, "shape", -1, t.dim, MAX_RANK, &t.rank, e))
        return false;
    const leaf l = {.kind = LEAF_WEIGHT,
                    .mean = onnx_real(c, "mean", 0),
                    .scale = onnx_real(c, "scale", 1),
                    .seed = (uint64_t)onnx_int(c, "seed", 0)};
    return onnx_give(c, &out[0].node, g_leaf(c->g, op_find("weight"), c->name, &t, &l), e);
}

/* ---- records ---- */
const op ops_leaf[] = {
    {.call = "input", .doc = "A tensor given at every run."},
    {.call = "weight",
     .doc = "A tensor that belongs to the model.",
     .formed = FORMED({"tessera.parameter 1 - 0 dtype mean scale seed shape", make_parameter})},
    {.call = "const",
     .doc = "A tensor whose value is known while the graph is built.",
     .adapted = ADAPTED({"Constant 1 - 0 sparse_value value value_float value_floats value_int value_ints value_string "
                         "value_strings",
                         adapt_constant},
                        {"Shape 1 - 1 end start", adapt_shape}, {"Size 1 - 1", adapt_size}),
     .onnx_cases = "Constant value_float=0.5\nShape f32[2,3]\nSize f32[2,3]"},
    {.call = "trip_operand",
     .doc = "In a trip of a scan: an operand, or the state or row at hand of one; or, behind "
            "the last one, the trip's number."},
    {0},
};
