/* attention.c - scaled dot-product attention as a recipe, and the triangles that mask it. */
#include "graph/eval/eval.h"
#include "graph/ir/rule.h"
#include "graph/ops/blocks.h"

#include <math.h>
#include <string.h>

/* ---- ONNX ---- */
/* Keeps the upper triangle (j - i >= k) or the lower one (j - i <= k). */
static bool adapt_trilu(const onnx_call *c, const node **out, err *e)
{
    int64_t k = 0;
    int n;
    if ((onnx_in(c, 1) && !onnx_ints(c, "", 1, &k, 1, &n, e)))
        return false;
    return onnx_give(c, out, onnx_made(c, 1, c->in, ATTRS(attr_int("k", k))), e);
}

/* ---- shape ---- */
static bool trilu_shape(const node *n, type *out, err *e)
{
    *out = n->in[0]->type;
    return out->rank >= 2 || operands_refuse(1, n->in, e, "matrices [..., rows, columns]");
}

/* ---- body ---- */
static const expr *trilu_body(defn *d)
{
    const int rank = d->node->type.rank;
    const expr *kept = x_said(d->mem, node_int(d->node, "upper") ? "i + k <= j" : "j <= i + k", "i",
                              x_axis(d->mem, rank - 2), "j", x_axis(d->mem, rank - 1), "k",
                              x_whole(d->mem, node_int(d->node, "k")), NULL);
    return x3(d->mem, "select", kept, defn_in(d, 0),
              x_literal(d->mem, d->node->type.dtype, node_real(d->node, "value")));
}

/* ---- recipes ---- */
/* softmax(scale * q k' + mask) v: q [..., queries, width], k [..., keys, width], v [..., keys, any], a mask that fits
 * the scores [..., queries, keys]. With causal=1 query i of the last q sees keys up to its own place. */
static const node *attention_lower(graph *g, const node *n)
{
    if (n->n_in < 3 || n->n_in > 4)
        return g_fail(g, TS_BAD_INPUT, "%d operands given, takes q, k, v and perhaps a mask", n->n_in);
    const node *q = n->in[0], *k = n->in[1];
    const int rank = k->type.rank;
    if (q->type.rank < 2 || rank < 2)
        return g_refuse(g, 2, n->in, "q [..., queries, width] and k [..., keys, width]");
    const int64_t width = q->type.dim[q->type.rank - 1], queries = q->type.dim[q->type.rank - 2],
                  keys = k->type.dim[rank - 2];
    const attr *scale = node_attr(n, "scale");
    /* [..., queries, keys] */
    const node *s = g_call2(g, "matmul", q, g_swapped(g, k));
    /* of variance 1 where q and k have it */
    s = g_scaled(g, s, scale->kind == 'f' ? scale->f : 1 / sqrt((double)(width ? width : 1)));
    if (n->n_in > 3)
        s = g_call2(g, "add", s, n->in[3]);
    if (node_int(n, "causal") && s)
        /* keys - queries: the last query sees all of them */
        s = g_callf(g, 1, &s, "trilu upper=0 k=%lld value=-inf", (long long)(keys - queries));
    return g_call2(g, "matmul", g_call1(g, "softmax", s), n->in[2]); /* [..., queries, any] */
}

/* ---- recipes: in blocks ---- */
static const group *made_by(const graph *g, const node *n, const char *name)
{
    for (int i = g->n_group; i-- > 0;)
        if (g->group[i].result == n && !strcmp(g->group[i].op->name, name))
            return &g->group[i];
    return NULL;
}

/* Heads in groups that share keys: a reshape that leaves rows and keys as they are. */
static bool keeps_rows(const node *n)
{
    const type *a = &n->type, *b = n->n_in ? &n->in[0]->type : a;
    return !strcmp(n->op->name, "reshape") && a->rank > 1 && b->rank > 1 &&
           !memcmp(a->dim + a->rank - 2, b->dim + b->rank - 2, 2 * sizeof *a->dim);
}

/* n where it is a number, else 0: what that is said of; NULL: something else. */
static const node *numbers_of(graph *g, const node *n)
{
    const bool is = !strcmp(n->op->name, "where") && !strcmp(n->in[0]->op->name, "isnan") &&
                    n->in[0]->in[0] == n->in[2] && type_count(&n->in[1]->type) == 1;
    const ts_array *other = is ? g_constant(g, n->in[1], 1) : NULL;
    return other && ts_array_at(other, 0) == 0 ? n->in[2] : NULL;
}

/* x, where n is its softmax along the last axis; NULL: n is none. empty: the result for rows of -inf alone. */
static const node *softmax_of(graph *g, const node *n, empty_rows *empty)
{
    const node *all = numbers_of(g, n);
    n = all ? all : n;
    const group *plain = made_by(g, n, "softmax"), *q = plain ? plain : made_by(g, n, "masked_softmax");
    *empty = all ? NO_NAN : q && !plain ? ZEROS : AS_THEY_ARE;
    return q && (!plain || q->attr->i == -1 || q->attr->i == n->type.rank - 1) ? q->in[0] : NULL;
}

static bool is_half(const node *n)
{
    return n->type.dtype == TS_F16 || n->type.dtype == TS_BF16;
}

/* Weights on their way to the product: heads in groups, and f32 that become halves. */
static bool passes(const node *n)
{
    return keeps_rows(n) || (is_half(n) && !strcmp(n->op->name, "cast") && n->in[0]->type.dtype == TS_F32);
}

/* softmax(scores) @ v for any scores; v has no more batch axes than they. With halves only the products are halves: the
 * running maximum and sums are f32. */
static const node *attention_in_blocks(graph *g, const group *q, block_size *size, void *user)
{
    /* y [..., queries, width] = seen [..., queries, keys] v [..., keys, width] */
    const node *y = q->result, *seen = y->n_in == 2 ? y->in[0] : NULL, *v = seen ? y->in[1] : NULL, *weights = seen;
    const int rank = seen ? seen->type.rank : 0;
    empty_rows empty;
    while (weights && passes(weights))
        weights = weights->in[0];
    const node *scores = weights ? softmax_of(g, weights, &empty) : NULL;
    if (!scores || strcmp(y->op->name, "matmul") || rank < 2 || rank > MAX_RANK - 2 || v->type.rank < 2 ||
        v->type.rank > rank || y->type.rank != rank || v->type.dtype != y->type.dtype ||
        seen->type.dtype != y->type.dtype || dtype_class(y->type.dtype) != D_REAL ||
        ts_dtype_bytes(y->type.dtype) < 2 ||
        memcmp(y->type.dim, seen->type.dim, (size_t)(rank - 1) * sizeof *y->type.dim))
        return NULL;
    /* keys, and elements of a value */
    const int64_t n = seen->type.dim[rank - 1], width = v->type.dim[v->type.rank - 1];
    /* rows: queries of all heads and batches together */
    const streaming s = {n ? type_count(&seen->type) / n : 0, n, width, y->type.dtype};
    const int64_t block = n > 1 && s.rows && width ? size(user, &s) : 0;
    if (block < 1 || block >= n)
        return NULL;
    scores = is_half(scores) ? g_cast(g, scores, TS_F32) : scores;
    if (scores->type.rank != rank || memcmp(scores->type.dim, seen->type.dim, (size_t)rank * sizeof *seen->type.dim))
        /* [..., queries, keys] again, where heads were in groups */
        scores = g_reshape(g, scores, rank, seen->type.dim);
    return g_blocked_softmax(g, scores, v, block, empty);
}

/* ---- records ---- */
const op ops_attention[] = {
    BODY("trilu a upper:i=1 k:i=0 value:f=0 -> e", trilu_body,
         "(lambda m: np.where(m >= k if upper else m <= k, a, "
         "np.asarray(value).astype(a.dtype)))(np.arange(a.shape[-1]) - np.arange(a.shape[-2])[:, None])",
         NULL,
         "f32[4,4]\nf32[2,3,5] upper=0 k=1\ni64[5,3] k=-2\nf32[3,3] upper=0 value=-inf\nbool[4,4] k=1\n"
         "f64[2,2] k=9\nf32[0,3]",
         "The upper (j - i >= k) or lower (j - i <= k) triangle of the last two axes; `value` elsewhere.",
         .adapted = ADAPTED({"Trilu 14 .i 1..2 upper", adapt_trilu}),
         .back = "Expand ? #; Trilu $ @k upper=upper; Where $ a !value", .shape = trilu_shape),
    RECIPE("attention ... scale:f= causal:i=0 -> b h q d | s", attention_lower, "attention(a, b, c, d, scale, causal)",
           NULL,
           "f32[2,3,5,8] f32[2,3,7,8] f32[2,3,7,4]\nf32[1,2,4,8] f32[1,2,4,8] f32[1,2,4,8] causal=1\n"
           "f32[2,2,3,4] f32[2,2,5,4] f32[2,2,5,4] f32[2,1,1,5] scale=0.25\nf64[5,8] f64[7,8] f64[7,3]\n"
           "f32[1,2,1,4] f32[1,2,6,4] f32[1,2,6,4] causal=1",
           "Mean of the values v, weighted by softmax of the scaled products of queries q and keys k plus a mask.",
           .in_blocks = attention_in_blocks),
    {0},
};
