/* linear_attention.c - attention whose past is one matrix for each head, s [key, value], rewritten at every step:
 * s = exp(decay) * s, then s += key x (beta * (value - key . s)), or s += key x value without a beta; the result of a
 * step is query . s. A step for each time, written out. */
#include "graph/ops/attend.h"

#include <math.h>
#include <string.h>

/* ---- helpers ---- */
typedef struct heads { /* of the packed operands [batch, time, heads * width] */
    int64_t batch, time, heads, group, key, value;
} heads;

/* ---- ONNX ---- */
/* [batch, time, heads * width] as [batch, heads, time, width], in a dtype that sums are made in. */
static const node *unpacked(graph *g, const node *x, int64_t n_heads, dtype d)
{
    return attend_apart(g, g_cast(g, x, d), n_heads);
}

static bool read_heads(const onnx_call *c, heads *h, err *e)
{
    const int64_t queries = onnx_int(c, "q_num_heads", 0), keys = onnx_int(c, "kv_num_heads", 0);
    if (!onnx_need(c, 3, e))
        return false;
    const type *q = &c->in[0]->type, *k = &c->in[1]->type, *v = &c->in[2]->type;
    if (q->rank != 3 || k->rank != 3 || v->rank != 3 || keys < 1 || queries < 1 || queries % keys ||
        q->dim[2] % queries || k->dim[2] % keys || v->dim[2] % keys || q->dim[2] / queries != k->dim[2] / keys)
        return operands_refuse(
            3, c->in, e,
            "[batch, time, width] each for q_num_heads=%lld and kv_num_heads=%lld, the latter a divisor, and "
            "of queries and keys as many numbers a head,",
            (long long)queries, (long long)keys);
    *h = (heads){k->dim[0], k->dim[1], keys, queries / keys, k->dim[2] / keys, v->dim[2] / keys};
    return true;
}

/* decay and beta as the update rule wants them; in[4..] on return, their number in *n. */
static bool read_gates(const onnx_call *c, const heads *h, dtype d, const node **in, int *n, err *e)
{
    const char *rule = onnx_word(c, "update_rule", "gated_delta");
    const bool gated = !strncmp(rule, "gated", 5), delta = strstr(rule, "delta") != NULL;
    const node *const given[] = {onnx_in(c, 4), onnx_in(c, 5)};
    if (strcmp(rule, "linear") && strcmp(rule, "gated") && strcmp(rule, "delta") && strcmp(rule, "gated_delta"))
        return err_set(e, TS_UNSUPPORTED,
                       "LinearAttention: update_rule \"%s\", linear, gated, delta or gated_delta expected", rule);
    if (gated != (given[0] != NULL) || delta != (given[1] != NULL))
        return err_set(
            e, TS_BAD_INPUT,
            "LinearAttention: update_rule \"%s\" %s decay and %s beta; gated rules take the one, delta rules the other",
            rule, given[0] ? "with" : "without", given[1] ? "with" : "without");
    *n = 4;
    for (int i = 0; i < 2; i++) {
        if (!given[i])
            continue;
        const type *t = &given[i]->type;
        const int64_t wide = t->rank == 3 ? t->dim[2] : 0;
        const bool fits = wide == h->heads || (i == 0 ? wide == h->heads * h->key : wide == 1);
        if (!fits)
            return operands_refuse(1, &given[i], e, "as %s [batch, time, %lld] or [batch, time, %lld]",
                                   i ? "beta" : "decay", (long long)h->heads, (long long)(i ? 1 : h->heads * h->key));
        in[(*n)++] = unpacked(c->g, given[i], i == 1 && wide == 1 ? 1 : h->heads, d);
    }
    return true;
}

static bool adapt_linear(const onnx_call *c, const node **out, err *e)
{
    graph *g = c->g;
    heads h = {0};
    const node *in[6];
    int n = 0;
    if (!read_heads(c, &h, e))
        return false;
    const dtype own = c->in[0]->type.dtype, d = own == TS_F64 ? TS_F64 : TS_F32;
    if (!read_gates(c, &h, d, in, &n, e))
        return false;
    const node *past = onnx_in(c, 3);
    const dtype kept = past ? past->type.dtype : own;
    /* one matrix for each head: keys by values */
    const type state = {.dtype = d, .rank = 4, .dim = {h.batch, h.heads, h.key, h.value}};
    double scale = onnx_real(c, "scale", 0);
    scale = scale != 0 ? scale : 1 / sqrt((double)h.key);
    /* [batch, time, heads, group, key], then heads before time */
    const node *q = g_reshape(g, g_cast(g, c->in[0], d), 5, (int64_t[]){h.batch, h.time, h.heads, h.group, h.key});
    in[0] = g_call1(g, "transpose axes=[0,2,1,3,4]", g_call2(g, "multiply", q, g_scalar(g, d, scale)));
    /* k [batch, heads, time, key], v [batch, heads, time, value] */
    in[1] = unpacked(g, c->in[1], h.heads, d), in[2] = unpacked(g, c->in[2], h.heads, d);
    in[3] = past ? g_cast(g, past, d) : g_filled(g, &state, 0); /* [batch, heads, key, value] */
    /* [batch, heads, time * group + key, value]: below the results the last state */
    const node *all = g_callf(g, n, in, "linear_attention decay=%d beta=%d", onnx_in(c, 4) != NULL,
                              onnx_in(c, 5) != NULL);
    if (!all)
        return onnx_give(c, out, NULL, e);
    const int64_t rows = h.time * h.group;
    const node *y = g_part(g, all, 2, 0, rows);
    /* back to the layout of the operands */
    y = g_reshape(g, y, 5, (int64_t[]){h.batch, h.heads, h.time, h.group, h.value});
    y = g_reshape(g, g_call1(g, "transpose axes=[0,2,1,3,4]", y), 3,
                  (int64_t[]){h.batch, h.time, h.heads * h.group * h.value});
    if (!onnx_give(c, out, g_cast(g, y, own), e) || c->n_out < 2)
        return c->n_out < 2 && out[0];
    return onnx_give(c, out + 1, g_cast(g, g_part(g, all, 2, rows, h.key), kept), e);
}

/* ---- recipes ---- */
static const node *linear_lower(graph *g, const node *n)
{
    const bool has_decay = node_int(n, "decay"), has_beta = node_int(n, "beta");
    const node *const *in = n->in;
    if (n->n_in != 4 + has_decay + has_beta)
        return g_fail(g, TS_BAD_INPUT, "%d operands given, takes %d", n->n_in, 4 + has_decay + has_beta);
    const type *q = &in[0]->type, *k = &in[1]->type, *v = &in[2]->type, *s = &in[3]->type;
    if (q->rank != 5 || k->rank != 4 || v->rank != 4 || s->rank != 4 || k->dim[2] < 1 || q->dim[2] != k->dim[2] ||
        v->dim[2] != k->dim[2] || s->dim[2] != k->dim[3] || q->dim[4] != k->dim[3] || s->dim[3] != v->dim[3])
        return g_refuse(g, 4, n->in,
                        "q [batch, head, time, group, key], k [batch, head, time, key], v [batch, head, time, "
                        "value] and a state [batch, head, key, value] of at least one step");
    const int64_t time = k->dim[2], per_key = q->dim[3];
    if (!g_may_write_out(g, time))
        return NULL;
    const node *decay = has_decay ? g_call1(g, "exp", in[4]) : NULL, *beta = has_beta ? in[n->n_in - 1] : NULL;
    const node **y = arena_array(&g->mem, (size_t)time + 2, sizeof *y), *state = in[3];
    for (int64_t t = 0; t < time && !err_is(&g->err); t++) {
        /* of this step: [batch, head, 1, key], [.., 1, value], [batch, head, 1, group, key] */
        const node *key = g_part(g, in[1], 2, t, 1), *value = g_part(g, in[2], 2, t, 1),
                   *query = g_part(g, in[0], 2, t, 1);
        const node *column = g_swapped(g, key); /* [batch, head, key, 1] */
        if (decay)
            /* [batch, head, key, value], each key by its own decay, or all by one */
            state = g_call2(g, "multiply", state, g_swapped(g, g_part(g, decay, 2, t, 1)));
        if (beta)
            /* the delta rule: what the state does not say yet, [batch, head, 1, value] */
            value = g_call2(g, "multiply", g_part(g, beta, 2, t, 1),
                            g_call2(g, "subtract", value, g_call2(g, "matmul", key, state)));
        state = g_call2(g, "add", state, g_call2(g, "multiply", column, value)); /* outer product */
        /* [batch, head, group, key] */
        query = query ? g_reshape(g, query, 4, (int64_t[]){q->dim[0], q->dim[1], per_key, k->dim[3]}) : NULL;
        y[t] = g_call2(g, "matmul", query, state); /* [batch, head, group, value] */
    }
    y[time] = state;
    return err_is(&g->err) ? NULL : g_joined(g, time + 1, y, 2);
}

/* ---- records ---- */
const op ops_linear_attention[] = {
    RECIPE("linear_attention ... decay:i=0 beta:i=0 -> b h m n", linear_lower, "linear_attention(x, decay, beta)", NULL,
           "f32[2,2,3,2,4] f32[2,2,3,4] f32[2,2,3,5] f32[2,2,4,5]\nf64[1,2,4,1,3] f64[1,2,4,3] f64[1,2,4,2] "
           "f64[1,2,3,2] f64[1,2,4,3] decay=1\nf64[1,2,2,1,3] f64[1,2,2,3] f64[1,2,2,2] f64[1,2,3,2] f64[1,1,2,1] "
           "beta=1\nf64[1,2,2,3,3] f64[1,2,2,3] f64[1,2,2,2] f64[1,2,3,2] f64[1,2,2,1] f64[1,2,2,1] decay=1 beta=1\n"
           "f64[1,1,1,1,2] f64[1,1,1,2] f64[1,1,1,3] f64[1,1,2,3]",
           "Results [batch, head, time * group, value] of queries, keys, values and a state, then, below them, the "
           "state after the last step; decay and beta follow where the attributes say so.",
           .adapted = ADAPTED({"LinearAttention 27 FFFfF 0..6 >2 chunk_size kv_num_heads q_num_heads scale update_rule",
                               adapt_linear}),
           .onnx_cases =
               "LinearAttention f32[1,2,6] f32[1,2,6] f32[1,2,4] q_num_heads=2 kv_num_heads=2 update_rule=linear"),
    {0},
};
