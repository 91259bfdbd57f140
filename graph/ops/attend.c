/* attend.c - attention as ONNX has it since version 23: heads side by side or apart, few key heads for many query
 * heads, a cache, a cap on the scores, masks that may leave nothing to attend to. The plain case is the operation
 * `attention`. */
#include "graph/ops/attend.h"

#include <math.h>

typedef struct attend {
    const onnx_call *c;
    graph *g;
    const node *q, *k, *v;                    /* [batch, heads, time, width] */
    const node *allowed;                      /* of truth values, NULL: everything */
    int64_t batch, heads, few, queries, keys; /* few: heads of keys and values */
    int64_t past;
    bool flat; /* heads side by side in the operands: [batch, time, heads * width] */
} attend;

/* ---- helpers ---- */
const node *attend_apart(graph *g, const node *x, int64_t heads)
{
    if (!x || x->type.rank != 3 || heads < 1 || x->type.dim[2] % heads)
        return g_fail(g, TS_BAD_INPUT, "%lld heads do not divide an operand", (long long)heads);
    const int64_t *dim = x->type.dim, shape[] = {dim[0], dim[1], heads, dim[2] / heads};
    return g_transpose(g, g_reshape(g, x, 4, shape), 4, (int64_t[]){0, 2, 1, 3});
}

const node *attend_together(graph *g, const node *x)
{
    x = g_transpose(g, x, 4, (int64_t[]){0, 2, 1, 3});
    return x ? g_reshape(g, x, 3, (int64_t[]){x->type.dim[0], x->type.dim[1], x->type.dim[2] * x->type.dim[3]}) : NULL;
}

/* 0, 1, ... standing along one of the last two axes. */
static const node *count_along(graph *g, int64_t n, bool rows)
{
    const node *i = g_count(g, n, TS_I64); /* [n] */
    return rows ? g_reshape(g, i, 2, (int64_t[]){n, 1}) : i;
}

static const node *both(graph *g, const node *a, const node *b)
{
    return !a ? b : g_call2(g, "logical_and", a, b);
}

/* ---- helpers: operands ---- */
static bool read_operands(attend *a, err *e)
{
    const onnx_call *c = a->c;
    graph *g = a->g;
    const node *past[2] = {onnx_in(c, 4), onnx_in(c, 5)}; /* [batch, few, past, width] */
    if (!onnx_need(c, 3, e))
        return false;
    a->q = c->in[0], a->k = c->in[1], a->v = c->in[2];
    a->flat = a->q->type.rank == 3;
    if (a->flat) {
        const int64_t heads = onnx_int(c, "q_num_heads", 0), few = onnx_int(c, "kv_num_heads", 0);
        a->q = attend_apart(g, a->q, heads), a->k = attend_apart(g, a->k, few), a->v = attend_apart(g, a->v, few);
        if (!a->q || !a->k || !a->v)
            return false;
    }
    if (a->q->type.rank != 4 || a->k->type.rank != 4 || a->v->type.rank != 4)
        return err_set(e, TS_BAD_INPUT,
                       "%s: Q, K and V have %d, %d and %d axes, 3 with the numbers of heads, or 4, expected", c->type,
                       c->in[0]->type.rank, c->in[1]->type.rank, c->in[2]->type.rank);
    if (!past[0] != !past[1])
        return err_set(e, TS_BAD_INPUT, "%s: past_%s is not given and past_%s is, both or none expected", c->type,
                       past[0] ? "value" : "key", past[0] ? "key" : "value");
    if (past[0]) {
        a->k = g_callf(g, NODES(past[0], a->k), "concat axis=2");
        a->v = g_callf(g, NODES(past[1], a->v), "concat axis=2");
        if (!a->k || !a->v)
            return false;
        a->past = past[0]->type.dim[2];
    }
    a->batch = a->q->type.dim[0], a->heads = a->q->type.dim[1], a->queries = a->q->type.dim[2];
    a->few = a->k->type.dim[1], a->keys = a->k->type.dim[2];
    if (a->few < 1 || a->heads % a->few || a->v->type.dim[1] != a->few)
        return err_set(e, TS_BAD_INPUT,
                       "%s: %lld heads of queries, %lld of keys, %lld of values; expected as many of both, which "
                       "divide those of queries",
                       c->type, (long long)a->heads, (long long)a->few, (long long)a->v->type.dim[1]);
    return true;
}

/* Where query i may look at key j: j < valid keys; j - i - offset <= 0 if causal; and inside the window around i +
 * offset. The offset counts the keys before the first query. i [queries, 1], j [keys], valid [batch, 1, 1, 1]; what is
 * allowed [queries, keys], or [batch, 1, queries, keys]. */
static void find_allowed(attend *a)
{
    const onnx_call *c = a->c;
    graph *g = a->g;
    const node *valid = onnx_in(c, 6), *i = count_along(g, a->queries, true), *j = count_along(g, a->keys, false);
    const int64_t left = onnx_int(c, "left_window_size", -1), right = onnx_int(c, "right_window_size", -1);
    const node *offset = g_scalar(g, TS_I64, (double)a->past); /* [] or [batch, 1, 1, 1] */
    if (valid) {
        valid = g_reshape(g, g_cast(g, valid, TS_I64), 4, (int64_t[]){a->batch, 1, 1, 1});
        offset = g_call2(g, "subtract", valid, g_scalar(g, TS_I64, (double)a->queries));
        a->allowed = g_call2(g, "less", j, valid);
    }
    const node *ahead = g_call2(g, "subtract", j, g_call2(g, "add", i, offset)); /* of key j before query i */
    if (onnx_int(c, "is_causal", 0))
        a->allowed = both(g, a->allowed, g_call2(g, "less_equal", ahead, g_scalar(g, TS_I64, 0)));
    if (left >= 0)
        a->allowed = both(g, a->allowed, g_call2(g, "less_equal", g_scalar(g, TS_I64, -(double)left), ahead));
    if (right >= 0)
        a->allowed = both(g, a->allowed, g_call2(g, "less_equal", ahead, g_scalar(g, TS_I64, (double)right)));
}

/* A mask that is shorter than the keys hides the rest. */
static const node *whole_mask(attend *a, const node *mask)
{
    const type *t = &mask->type;
    int64_t pads[2 * MAX_RANK] = {0};
    if (t->rank < 1 || t->dim[t->rank - 1] >= a->keys || t->dim[t->rank - 1] == 1)
        return mask;
    pads[2 * t->rank - 1] = a->keys - t->dim[t->rank - 1];
    const attr list[] = {attr_ints("pads", 2 * t->rank, pads),
                         attr_real("value", dtype_class(t->dtype) == D_REAL ? -INFINITY : 0)};
    return g_apply(a->g, "pad", mask, COUNT(list), list);
}

/* ---- helpers: scores ---- */
/* x[batch, heads, ...] @ y[batch, few, ...]: query heads that share a key head stand behind it. */
static const node *by_heads(attend *a, const node *x, const node *y)
{
    graph *g = a->g;
    if (!x || !y || a->heads == a->few)
        return g_call2(g, "matmul", x, y);
    const int64_t *p = x->type.dim, *q = y->type.dim;
    /* [batch, few, heads / few, m, k] */
    const node *left = g_reshape(g, x, 5, (int64_t[]){p[0], a->few, a->heads / a->few, p[2], p[3]});
    const node *right = g_reshape(g, y, 5, (int64_t[]){q[0], a->few, 1, q[2], q[3]}); /* [batch, few, 1, k, n] */
    return g_reshape(g, g_call2(g, "matmul", left, right), 4, (int64_t[]){p[0], a->heads, p[2], q[3]});
}

static double scale_of(const attend *a)
{
    const int64_t width = a->q->type.dim[3];
    return onnx_attr(a->c, "scale") ? onnx_real(a->c, "scale", 1) : 1 / sqrt((double)(width ? width : 1));
}

static bool give_scores(const attend *a, int mode, const node *s, const node **out, err *e)
{
    if (a->c->n_out < 4 || onnx_int(a->c, "qk_matmul_output_mode", 0) != mode)
        return true;
    return onnx_give(a->c, out + 3, s, e);
}

/* [batch, heads, queries, keys] */
static bool scores(attend *a, const node **s, const node **out, err *e)
{
    graph *g = a->g;
    const node *mask = onnx_in(a->c, 3);
    const double cap = onnx_real(a->c, "softcap", 0), root = sqrt(scale_of(a));
    const node *q = g_scaled(g, a->q, root); /* [batch, heads, queries, width] */
    const node *k = g_scaled(g, a->k, root); /* [batch, few, keys, width] */
    *s = by_heads(a, q, g_swapped(g, k));
    if (!give_scores(a, 0, *s, out, e))
        return false;
    if (cap != 0)
        *s = g_call2(g, "multiply", g_call1(g, "tanh", g_call2(g, "divide", *s, g_scalar_like(g, *s, cap))),
                     g_scalar_like(g, *s, cap));
    if (!give_scores(a, 1, *s, out, e))
        return false;
    if (mask && mask->type.dtype == TS_BOOL)
        a->allowed = both(g, a->allowed, whole_mask(a, mask));
    else if (mask)
        *s = g_call2(g, "add", *s, whole_mask(a, mask));
    if (a->allowed)
        *s = g_call3(g, "where", a->allowed, *s, g_scalar_like(g, *s, -INFINITY));
    return give_scores(a, 2, *s, out, e);
}

/* ---- ONNX ---- */
/* softmax(scale q k') v, where no mask can leave a row empty and nothing else is asked for. Halves are scaled before
 * their product, both by the root, as the specification has it: that shows in their last bits. */
static bool is_plain(const attend *a)
{
    const onnx_call *c = a->c;
    const bool causal = onnx_int(c, "is_causal", 0);
    if (ts_dtype_bytes(a->q->type.dtype) < 4)
        return false;
    return a->heads == a->few && !onnx_in(c, 3) && !onnx_in(c, 6) && onnx_real(c, "softcap", 0) == 0 && c->n_out < 4 &&
           onnx_int(c, "left_window_size", -1) < 0 && onnx_int(c, "right_window_size", -1) < 0 &&
           !onnx_attr(c, "softmax_precision") && (!causal || a->past + a->queries == a->keys);
}

static const node *plain(const attend *a)
{
    return g_apply_n(a->g, "attention", NODES(a->q, a->k, a->v),
                     ATTRS(attr_real("scale", scale_of(a)), attr_int("causal", onnx_int(a->c, "is_causal", 0))));
}

static const node *general(attend *a, const node **out, err *e)
{
    graph *g = a->g;
    const node *s;
    dtype d = a->q->type.dtype;
    find_allowed(a);
    if (!scores(a, &s, out, e))
        return NULL;
    if (onnx_attr(a->c, "softmax_precision") && !onnx_dtype(onnx_int(a->c, "softmax_precision", 1), &d, e))
        return NULL;
    s = g_cast(g, g_call1(g, "masked_softmax", g_cast(g, s, d)), a->q->type.dtype);
    return give_scores(a, 3, s, out, e) ? by_heads(a, s, a->v) : NULL;
}

static bool adapt_attention(const onnx_call *c, const node **out, err *e)
{
    attend a = {.c = c, .g = c->g};
    if (!read_operands(&a, e))
        return false;
    const node *y = is_plain(&a) ? plain(&a) : general(&a, out, e); /* [batch, heads, queries, width] */
    if (!y && err_is(e))
        return false;
    return onnx_give(c, out, a.flat ? attend_together(c->g, y) : y, e) &&
           (c->n_out < 2 || onnx_give(c, out + 1, a.k, e)) && (c->n_out < 3 || onnx_give(c, out + 2, a.v, e));
}

/* ---- recipes ---- */
/* Softmax of rows whose elements may all be -inf: nothing is lowered by an infinite maximum, nor divided by 0.
 * x and z [..., keys]; top and sum [..., 1]. */
static const node *masked_softmax_lower(graph *g, const node *n)
{
    const node *x = n->in[0];
    if (x->type.rank < 1 || x->type.dim[x->type.rank - 1] == 0)
        return x;
    const node *top = g_call1(g, "max axes=[-1] keepdims=1", x);
    top = g_call3(g, "where", g_call2(g, "equal", top, g_scalar_like(g, top, -INFINITY)), g_scalar_like(g, top, 0),
                  top);
    const node *z = g_call1(g, "exp", g_call2(g, "subtract", x, top)), *sum = g_call1(g, "sum axes=[-1] keepdims=1", z);
    sum = g_call3(g, "where", g_call2(g, "equal", sum, g_scalar_like(g, sum, 0)), g_scalar_like(g, sum, 1), sum);
    return g_call2(g, "divide", z, sum);
}

/* ---- records ---- */
const op ops_attend[] = {
    RECIPE("masked_softmax a -> r c", masked_softmax_lower,
           "(lambda z: z / np.maximum(z.sum(-1, keepdims=True), np.asarray(1e-4).astype(z.dtype)))(np.exp(a - "
           "np.nan_to_num(a.max(-1, keepdims=True, initial=-np.inf), neginf=0)))",
           NULL, "f32[2,3]\nf64[5,7]\nf32[2,3]=-inf\nf32[2,3,4]\nf32[2,0]\nf32[0,2]",
           "Softmax along the last axis; rows of -inf alone become zeros.",
           .adapted = ADAPTED({"Attention 23 FFf.Ffi 0..7 >4 is_causal kv_num_heads left_window_size q_num_heads "
                               "qk_matmul_output_mode right_window_size scale softcap softmax_precision",
                               adapt_attention}),
           .onnx_cases = "Attention f32[1,2,3,4] f32[1,2,3,4] f32[1,2,3,4]"),
    {0},
};
