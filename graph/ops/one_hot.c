/* one_hot.c - tensors that are the same nearly everywhere: one value where the place says so, another elsewhere. */
#include "graph/ir/rule.h"

/* ---- ONNX ---- */
static bool adapt_one_hot(const onnx_call *c, const node **out, err *e)
{
    double depth = 0;
    if (!onnx_number(c, 1, &depth, e))
        return false;
    /* [items...], [2]: off, on */
    const node *y = onnx_made(c, NODES(g_cast(c->g, c->in[0], TS_I64), c->in[2]),
                              ATTRS(attr_int("depth", (int64_t)depth)));
    return onnx_give(c, out, y, e);
}

static bool adapt_eye_like(const onnx_call *c, const node **out, err *e)
{
    const type *t = &c->in[0]->type;
    dtype d = t->dtype;
    if (t->rank != 2 || (onnx_attr(c, "dtype") && !onnx_dtype(onnx_int(c, "dtype", 1), &d, e)))
        return operands_refuse(1, c->in, e, "a matrix [rows, columns]");
    const node *y = g_callf(c->g, 0, NULL, "eye rows=%lld columns=%lld k=%lld to=%s", (long long)t->dim[0],
                            (long long)t->dim[1], (long long)onnx_int(c, "k", 0), ts_dtype_name(d));
    return onnx_give(c, out, y, e);
}

/* ---- shape ---- */
static bool one_hot_shape(const node *n, type *out, err *e)
{
    const type *t = &n->in[0]->type, *values = &n->in[1]->type;
    int axis;
    if (dtype_class(t->dtype) != D_WHOLE || values->rank != 1 || values->dim[0] != 2)
        return operands_refuse(2, n->in, e, "places, integers, and values [2], elsewhere and there,");
    if (t->rank == MAX_RANK || node_int(n, "depth") < 0 || !attr_axis(n, "axis", t->rank + 1, &axis, e))
        return err_set(e, TS_BAD_INPUT, "depth: %lld, 0 or more expected, and a place for one more axis",
                       (long long)node_int(n, "depth"));
    *out = (type){.dtype = values->dtype, .rank = t->rank + 1};
    for (int i = 0, k = 0; i < out->rank; i++)
        out->dim[i] = i == axis ? node_int(n, "depth") : t->dim[k++];
    return true;
}

static bool eye_shape(const node *n, type *out, err *e)
{
    *out = (type){.rank = 2, .dim = {node_int(n, "rows"), node_int(n, "columns")}};
    return attr_dtype(n, "to", &out->dtype, e);
}

/* ---- body ---- */
/* y[..., i, ...] = values[1] if places[...] is i, or i - depth, else values[0] */
static const expr *one_hot_body(defn *d)
{
    const int rank = d->node->type.rank;
    const expr *sub[MAX_RANK];
    arena *mem = d->mem;
    const int axis = defn_axis(d, rank);
    for (int i = 0, k = 0; i < rank; i++)
        if (i != axis)
            sub[k++] = x_axis(mem, i);
    return x_said(mem, "place == i || place == i - depth ? there : elsewhere", "place",
                  x_cast(mem, TS_I64, defn_at(d, 0, sub)), "i", x_axis(mem, axis), "depth",
                  x_whole(mem, node_int(d->node, "depth")), "there", defn_at(d, 1, (const expr *[]){x_whole(mem, 1)}),
                  "elsewhere", defn_at(d, 1, (const expr *[]){x_whole(mem, 0)}), NULL);
}

static const expr *eye_body(defn *d)
{
    return x_said(d->mem, "j == i + k ? 1 : 0", "i", x_axis(d->mem, 0), "j", x_axis(d->mem, 1), "k",
                  x_whole(d->mem, node_int(d->node, "k")), NULL);
}

/* ---- records ---- */
const op ops_one_hot[] = {
    BODY("one_hot a b depth:i axis:i=-1", one_hot_body,
         "np.where(np.moveaxis((a[..., None] == np.arange(depth)) | (a[..., None] + depth == np.arange(depth)), "
         "-1, axis), b[1], b[0])",
         NULL,
         "i64[4]<5 f32[2] depth=5\ni64[2,3]<7 f32[2] depth=4 axis=1\ni32[2,3]<4 i64[2] depth=4 axis=0\n"
         "u8[3]<9 f64[2] depth=3\ni64[] f32[2] depth=2\ni64[0] f32[2] depth=2\ni64[3] bool[2] depth=0",
         "A new axis of extent depth that holds the second of two values at the listed place, the first elsewhere.",
         .adapted = ADAPTED({"OneHot 9 nn. 3 axis", adapt_one_hot}), .onnx_cases = "OneHot i64[3] i64[]=4 f32[2]",
         .shape = one_hot_shape),
    BODY("eye rows:i columns:i k:i=0 to:s=f32 -> e", eye_body, "np.eye(rows, columns, k, dtype=dtypes[to])", NULL,
         "rows=3 columns=4\nrows=4 columns=3 k=-1 to=i64\nrows=2 columns=2 k=5 to=f64\nrows=0 columns=2\n"
         "rows=3 columns=3 to=bool",
         "Ones on the k-th diagonal above the main one, zeros elsewhere.",
         .adapted = ADAPTED({"EyeLike 9 - 1 dtype k", adapt_eye_like}), .onnx_cases = "EyeLike f32[3,3]",
         .shape = eye_shape),
    {0},
};
