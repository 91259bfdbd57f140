/* flex_attention.c - attention whose scores and whose probabilities pass through graphs that the call carries. */
#include "graph/ir/rule.h"

#include <math.h>

/* ---- helpers ---- */
/* x through the graph in that attribute; x itself where there is none. */
static bool passed(const onnx_call *c, const char *attribute, const node **x, err *e)
{
    const type was = (*x)->type;
    onnx_value in = {.node = *x}, out = {0};
    if (!onnx_attr(c, attribute))
        return true;
    if (!c->pass(c, &(onnx_pass){attribute, 1, 1, &in, &out}, e))
        return false;
    *x = out.node;
    return (out.node && type_equal(&out.node->type, &was)) ||
           (out.node
                ? operands_refuse(1, &out.node, e, "from %s a tensor of the type that goes in", attribute)
                : err_set(e, TS_BAD_INPUT, "%s gives no tensor, one of the type that goes in expected", attribute));
}

/* Heads of keys or values, each `times` times. */
static const node *repeated(graph *g, const node *x, int64_t times)
{
    const int64_t *d = x->type.dim, wide[] = {d[0], d[1], times, d[2], d[3]}, flat[] = {d[0], d[1] * times, d[2], d[3]};
    return times == 1 ? x : g_reshape(g, g_broadcast(g, g_call1(g, "expand_dims axes=[2]", x), 5, wide), 4, flat);
}

static bool check_operands(const onnx_call *c, err *e)
{
    if (!onnx_need(c, 3, e))
        return false;
    const type *q = &c->in[0]->type, *k = &c->in[1]->type, *v = &c->in[2]->type;
    if (q->rank != 4 || k->rank != 4 || v->rank != 4 || k->dim[1] < 1 || q->dim[1] % k->dim[1] ||
        k->dim[1] != v->dim[1] || k->dim[2] != v->dim[2] || q->dim[3] != k->dim[3] || q->dim[3] < 1)
        return operands_refuse(
            3, c->in, e,
            "queries [batch, heads, time, size], keys and values [batch, own heads, own time, size], whose heads "
            "divide those of queries,");
    return true;
}

/* ---- ONNX ---- */
/* q [batch, heads, queries, size], k and v [batch, heads, keys, size]; x [batch, heads, queries, keys] up to its
 * product with v. */
static bool make_flex(const onnx_call *c, onnx_value *out, err *e)
{
    graph *g = c->g;
    if (!check_operands(c, e))
        return false;
    const node *q = c->in[0], *k = c->in[1], *v = c->in[2];
    const dtype own = q->type.dtype;
    dtype precise = own == TS_F64 ? TS_F64 : TS_F32;
    if (onnx_attr(c, "softmax_precision") && !onnx_dtype(onnx_int(c, "softmax_precision", 1), &precise, e))
        return false;
    const int64_t times = q->type.dim[1] / k->type.dim[1];
    const double scale = onnx_real(c, "scale", 1 / sqrt((double)q->type.dim[3]));
    const node *root = g_scalar(g, own, sqrt(scale));
    q = g_call2(g, "multiply", q, root), k = g_call2(g, "multiply", repeated(g, k, times), root);
    const node *x = g_cast(g, g_call2(g, "matmul", q, g_call1(g, "transpose axes=[0,1,3,2]", k)), precise);
    if (!x || !passed(c, "score_mod", &x, e))
        return x ? false : onnx_give(c, &out[0].node, NULL, e);
    x = g_call1(g, "softmax axis=-1", x);
    if (!x || !passed(c, "prob_mod", &x, e))
        return x ? false : onnx_give(c, &out[0].node, NULL, e);
    x = g_call2(g, "matmul", x, g_cast(g, repeated(g, v, times), precise));
    return onnx_give(c, &out[0].node, g_cast(g, x, v->type.dtype), e);
}

/* ---- records ---- */
const op ops_flex_attention[] = {
    {.call = "flex_attention",
     .doc = "Attention with graphs between its steps, resolved while a file's graph is built.",
     .formed = FORMED(
         {"ai.onnx.preview.FlexAttention 1 - 0..3 prob_mod scale score_mod softmax_precision", make_flex})},
    {0},
};
