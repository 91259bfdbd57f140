/* heads.c - the attention of com.microsoft: projections, masks and caches around the Attention of the standard, which
 * forms scores and sums. q [batch, heads, queries, width], k and v the same of the keys, of as many heads or fewer. */
#include "graph/ops/attend.h"
#include "graph/ops/quantize.h"

#include <math.h>
#include <string.h>

typedef struct heads {
    const onnx_call *c;
    graph *g;
    int64_t heads, few;                      /* few: of keys and values */
    const node *q, *k, *v, *past_k, *past_v; /* [batch, heads, queries, width], [batch, few, keys, width] */
    const node *more;                        /* what is added to the scores anyway, or NULL */
    const node *mask;                        /* added to the scores, or truth: where they count; NULL: everywhere */
    bool causal;
} heads;

/* ---- helpers ---- */
static const node *joined(graph *g, const node *a, const node *b, int axis)
{
    return a ? g_callf(g, NODES(a, b), "concat axis=%d", axis) : b;
}

static int64_t keys(const heads *h)
{
    return (h->past_k ? h->past_k->type.dim[2] : 0) + h->k->type.dim[2];
}

static const node *number(graph *g, const node *v) /* i64, where there is one */
{
    return v ? g_cast(g, v, TS_I64) : NULL;
}

/* What is added to scores: 0 where `allowed`, else mask_filter_value; then what is added anyway. */
static const node *filtered(const heads *h, const node *allowed, const node *more)
{
    graph *g = h->g;
    const double far = onnx_real(h->c, "mask_filter_value", -10000);
    if (!allowed)
        return more;
    /* [batch, 1, 1 or queries, keys] */
    const node *mask = g_call3(g, "where", allowed, g_scalar_like(g, h->q, 0), g_scalar_like(g, h->q, far));
    return more ? g_call2(g, "add", mask, more) : mask;
}

/* Where keys count, of a mask [batch, keys] or [batch, queries, keys] of 1 and 0, of ends [batch], or of ends and
 * starts [2 * batch]; beside [batch, heads, queries, keys]. */
static bool read_mask(const heads *h, const node *mask, const node **allowed, err *e)
{
    graph *g = h->g;
    const int64_t batch = h->q->type.dim[0], n = keys(h);
    const type *t = mask ? &mask->type : NULL;
    const node *j = g_count(g, n, TS_I64), *from = NULL; /* [keys], [batch, 1, 1, 1] */
    *allowed = NULL;
    if (!mask)
        return true;
    mask = number(g, mask);
    if (t->rank == 1 && (t->dim[0] == batch || t->dim[0] == 2 * batch)) {
        from = t->dim[0] == batch ? NULL : g_along(g, g_part(g, mask, 0, batch, batch), 4, 0);
        mask = g_along(g, g_part(g, mask, 0, 0, batch), 4, 0);
        *allowed = g_call2(g, "less", j, mask);
        if (from)
            *allowed = g_call2(g, "logical_and", *allowed, g_call2(g, "less_equal", from, j));
        return *allowed != NULL;
    }
    const bool flat = t->rank == 2, square = t->rank == 3;
    if ((!flat && !square) || t->dim[0] != batch || t->dim[t->rank - 1] != n)
        return operands_refuse(1, &mask, e,
                               "a mask of %lld in the batch and %lld keys: [batch], [2 * batch], [batch, "
                               "keys] or [batch, queries, keys]",
                               (long long)batch, (long long)n);
    mask = g_reshape(g, mask, 4, (int64_t[]){batch, 1, square ? t->dim[1] : 1, n});
    *allowed = g_call2(g, "greater", mask, g_scalar(g, TS_I64, 0));
    return *allowed != NULL;
}

/* out[0] [batch, heads, queries, width], then keys, values and scores, as many as asked for. */
static const node *attended(const heads *h, int n_out, const node **out)
{
    const onnx_call *c = h->c;
    const node *in[] = {h->q, h->k, h->v, h->mask, h->past_k, h->past_v};
    const attr more[] = {attr_int("is_causal", h->causal), attr_int("qk_matmul_output_mode", 3)};
    onnx_call own = *c;
    attr kept[2];
    own.n_attr = 0, own.attr = kept;
    for (int i = 0; i < c->n_attr; i++)
        if ((!strcmp(c->attr[i].name, "scale") && onnx_real(c, "scale", 0) != 0) || !strcmp(c->attr[i].name, "softcap"))
            kept[own.n_attr++] = c->attr[i];
    const int n_in = h->past_k ? 6 : h->mask ? 4 : 3;
    return onnx_standard(&own, &(onnx_inner){"Attention", 23, n_in, in, COUNT(more), more, n_out, out});
}

/* ---- ONNX: with the projection ---- */
/* all [batch, time, 3 widths] as q, k and v; past [2, batch, heads, time, width], the result that of the whole. */
static bool attend_all(heads *h, const node *all, const node *mask, const node *past, const node **out, err *e)
{
    graph *g = h->g;
    const onnx_call *c = h->c;
    int64_t size[3], at = 0;
    int n = 0;
    const node *part[3], *allowed, *y[4]; /* part and y [batch, heads, time, width] */
    if (!all || all->type.rank != 3)
        return all ? operands_refuse(2, c->in, e, "[batch, time, in] and weights [in, columns]")
                   : onnx_give(c, out, NULL, e);
    const int64_t width = all->type.dim[2];
    if (onnx_attr(c, "qkv_hidden_sizes") && !onnx_ints(c, "qkv_hidden_sizes", -1, size, 3, &n, e))
        return false;
    for (int i = 0; i < 3; i++) {
        size[i] = n == 3 ? size[i] : width / 3;
        if (size[i] < 1 || size[i] > width - at)
            return err_set(e, TS_BAD_INPUT, "%s: %lld columns of weights, not those of q, k and v together", c->type,
                           (long long)width);
        part[i] = attend_apart(g, g_part(g, all, 2, at, size[i]), h->heads), at += size[i];
    }
    h->q = part[0], h->k = part[1], h->v = part[2];
    if (past && past->type.rank == 5)
        for (int i = 0; i < 2; i++)
            *(i ? &h->past_v : &h->past_k) = g_call1(g, "squeeze axes=[0]", g_part(g, past, 0, i, 1));
    else if (past)
        return operands_refuse(1, &past, e, "the past as [2, batch, heads, time, width]");
    if (!part[0] || !part[1] || !part[2] || !read_mask(h, mask, &allowed, e))
        return err_is(e) ? false : onnx_give(c, out, NULL, e);
    h->mask = filtered(h, allowed, h->more), h->causal = onnx_int(c, "unidirectional", 0);
    if (!attended(h, 3, y) || !onnx_give(c, out, attend_together(g, y[0]), e))
        return onnx_give(c, out, NULL, e);
    if (c->n_out < 2)
        return true;
    for (int i = 1; i < 3; i++)
        y[i] = g_call1(g, "expand_dims axes=[0]", y[i]);
    return onnx_give(c, out + 1, joined(g, y[1], y[2], 0), e);
}

static bool keeps_cache(const onnx_call *c, err *e)
{
    return onnx_int(c, "past_present_share_buffer", 0) &&
           err_set(e, TS_UNSUPPORTED, "%s: past_present_share_buffer=1: export with caches that grow", c->type);
}

/* Input, weights, bias, mask, past, what is added to scores */
static bool adapt_attention(const onnx_call *c, const node **out, err *e)
{
    graph *g = c->g;
    heads h = {.c = c, .g = g, .heads = onnx_int(c, "num_heads", 0), .more = onnx_in(c, 5)};
    if (keeps_cache(c, e))
        return false;
    if (onnx_int(c, "do_rotary", 0))
        return err_set(e, TS_UNSUPPORTED,
                       "Attention: do_rotary=1 is of other providers; RotaryEmbedding in front is "
                       "expected");
    /* [batch, time, columns], [columns] */
    const node *all = g_call2(g, "matmul", c->in[0], c->in[1]), *bias = onnx_in(c, 2);
    all = bias ? g_call2(g, "add", all, bias) : all;
    return attend_all(&h, all, onnx_in(c, 3), onnx_in(c, 4), out, e);
}

/* Input and weights as integers, bias, their scales, mask, their zeros, past */
static bool adapt_integers(const onnx_call *c, const node **out, err *e)
{
    graph *g = c->g;
    heads h = {.c = c, .g = g, .heads = onnx_int(c, "num_heads", 0)};
    if (keeps_cache(c, e))
        return false;
    const node *x = c->in[0], *w = c->in[1];                                   /* [batch, time, in], [in, columns] */
    const node *all = quantize_product(g, x, onnx_in(c, 6), w, onnx_in(c, 7)); /* [batch, time, columns] */
    /* beside [batch, time, columns] */
    const node *by = g_call2(g, "multiply", quantize_rows(g, x, c->in[3], false), quantize_rows(g, w, c->in[4], true));
    all = all && by ? g_call2(g, "multiply", g_cast(g, all, by->type.dtype), by) : NULL;
    return attend_all(&h, g_call2(g, "add", all, c->in[2]), onnx_in(c, 5), onnx_in(c, 8), out, e);
}

/* ---- ONNX: behind the projection ---- */
/* Part i of x [batch, time, heads, n, width] as [batch, heads, time, width] */
static const node *layer(graph *g, const node *x, int i)
{
    x = g_call1(g, "squeeze axes=[3]", g_part(g, x, 3, i, 1));
    return g_transpose(g, x, 4, (int64_t[]){0, 2, 1, 3});
}

/* x [batch, time, width] with columns [at, at + width) of the bias */
static const node *biased(graph *g, const node *x, const node *bias, int64_t at)
{
    const int64_t width = x->type.dim[x->type.rank - 1];
    if (!bias || x->type.rank != 3)
        return x;
    if (bias->type.rank != 1 || at + width > bias->type.dim[0])
        return g_refuse(g, 1, &bias, "a bias of the columns of q, k and v");
    return g_call2(g, "add", x, g_part(g, bias, 0, at, width));
}

/* q, k and v side by side, packed, or k and v of another sequence with their heads apart already. */
static bool read_sequences(heads *h, err *e)
{
    const onnx_call *c = h->c;
    graph *g = h->g;
    /* [batch, time, width] or packed, [columns] */
    const node *q = c->in[0], *k = onnx_in(c, 1), *v = onnx_in(c, 2), *bias = onnx_in(c, 3);
    const int packed = q->type.rank == 5 ? 3 : k && k->type.rank == 5 ? 2 : 0;
    const node *from = packed == 3 ? q : k;
    if (packed && (bias || v || (packed == 3 && k) || from->type.dim[3] != packed))
        return operands_refuse(c->n_in < 3 ? c->n_in : 3, c->in, e,
                               "q, k and v packed [batch, time, heads, 3, width], "
                               "or q and the other two, without a bias");
    if (!packed && (!k || !v))
        return err_set(e, TS_BAD_INPUT, "%s: key and value are missing", c->type);
    if (packed) {
        h->q = packed == 3 ? layer(g, q, 0) : attend_apart(g, q, h->heads);
        h->k = layer(g, from, packed - 2), h->v = layer(g, from, packed - 1);
        return true;
    }
    const int64_t first = q->type.dim[q->type.rank - 1], second = k->type.rank == 3 ? k->type.dim[2] : 0;
    h->q = attend_apart(g, biased(g, q, bias, 0), h->heads);
    h->k = k->type.rank == 4 ? k : attend_apart(g, biased(g, k, bias, first), h->heads);
    h->v = v->type.rank == 4 ? v : attend_apart(g, biased(g, v, bias, first + second), h->heads);
    return true;
}

static bool adapt_multi_head(const onnx_call *c, const node **out, err *e)
{
    graph *g = c->g;
    heads h = {.c = c, .g = g, .heads = onnx_int(c, "num_heads", 0), .past_k = onnx_in(c, 6), .past_v = onnx_in(c, 7)};
    const node *allowed, *y[4]; /* [batch, 1, 1 or queries, keys], [batch, heads, time, width] */
    if (onnx_in(c, 8) || onnx_in(c, 9))
        return err_set(e, TS_UNSUPPORTED,
                       "MultiHeadAttention: one cache for all steps, or beams; export with caches that grow");
    if (!read_sequences(&h, e))
        return false;
    if (!h.q || !h.k || !h.v)
        return onnx_give(c, out, NULL, e);
    if (!read_mask(&h, onnx_in(c, 4), &allowed, e))
        return false;
    h.mask = filtered(&h, allowed, onnx_in(c, 5)), h.causal = onnx_int(c, "unidirectional", 0);
    if (!attended(&h, c->n_out > 3 ? 4 : 3, y) || !onnx_give(c, out, attend_together(g, y[0]), e))
        return onnx_give(c, out, NULL, e);
    for (int i = 1; i < c->n_out; i++)
        out[i] = y[i];
    return true;
}

/* ---- ONNX: rotary ---- */
/* Positions [batch, time] from what is given: them, or one where all sequences begin. */
static const node *positions(graph *g, const node *at, int64_t batch, int64_t time)
{
    if (at->type.rank == 2)
        return at;
    at = g_call2(g, "add", g_reshape(g, number(g, at), 0, NULL), g_count(g, time, TS_I64));
    return at ? g_broadcast(g, at, 2, (int64_t[]){batch, time}) : NULL;
}

/* x [batch, heads, time, width] */
static const node *rotated(const onnx_call *c, const node *x, const node *at, const node *cosine, const node *sine)
{
    const int64_t own = onnx_int(c, "rotary_embedding_dim", 0);
    const int64_t pairs = cosine->type.dim[cosine->type.rank - 1];
    const attr more[] = {attr_int("interleaved", onnx_int(c, "rotary_interleaved", onnx_int(c, "interleaved", 0))),
                         attr_int("rotary_embedding_dim", own ? own : 2 * pairs)};
    onnx_call bare = *c;
    bare.n_attr = 0;
    return onnx_standard(&bare,
                         &(onnx_inner){"RotaryEmbedding", 23, NODES(x, cosine, sine, at), COUNT(more), more, 0, NULL});
}

/* x, positions, tables of cosines and sines [positions, pairs] */
static bool adapt_rotary(const onnx_call *c, const node **out, err *e)
{
    graph *g = c->g;
    const node *x = c->in[0];
    const int64_t pairs = c->in[2]->type.rank == 2 ? c->in[2]->type.dim[1] : 0, n = onnx_int(c, "num_heads", 0);
    if (onnx_int(c, "is_packed_batching", 0) || onnx_real(c, "scale", 1) != 1)
        return err_set(e, TS_UNSUPPORTED,
                       "RotaryEmbedding: is_packed_batching or scale, which only other providers "
                       "know; 0 and 1 expected");
    if (x->type.rank < 3 || x->type.rank > 4 || pairs < 1)
        return operands_refuse(3, c->in, e,
                               "[batch, time, width] or [batch, heads, time, width], positions, and "
                               "tables [positions, pairs]");
    const bool flat = x->type.rank == 3;
    const node *at = positions(g, c->in[1], x->type.dim[0], x->type.dim[flat ? 1 : 2]); /* [batch, time] */
    x = flat ? attend_apart(g, x, n ? n : x->type.dim[2] / (2 * pairs)) : x;
    const node *y = x && at ? rotated(c, x, at, c->in[2], c->in[3]) : NULL; /* [batch, heads, time, width] */
    return onnx_give(c, out, flat && y ? attend_together(g, y) : y, e);
}

/* ---- ONNX: few heads of keys, and a cache ---- */
typedef struct cache {
    int64_t time, total, room; /* steps that come; those that there are then at most; those that the cache has */
    const node *from;          /* [batch]: the place of the first of those that come */
    const node *at;            /* the same, [batch, 1, time, 1]: of each */
} cache;

/* Where sequences go on: behind what the cache holds of each, at 0 when all steps come at once. */
static bool read_cache(const heads *h, cache *s, err *e)
{
    graph *g = h->g;
    const onnx_call *c = h->c;
    const int64_t batch = h->q->type.dim[0], past = h->past_k ? h->past_k->type.dim[2] : 0;
    double total = 0;
    s->time = h->q->type.dim[2];
    if (!onnx_number(c, 6, &total, e))
        return false;
    if (total < (double)s->time || total > (double)(past + s->time))
        return err_set(e, TS_BAD_INPUT, "GroupQueryAttention: total_sequence_length %g, %lld to %lld expected", total,
                       (long long)s->time, (long long)(past + s->time));
    s->total = (int64_t)total, s->room = past > s->total ? past : s->total;
    s->from = g_call2(g, "add", number(g, c->in[5]), g_scalar(g, TS_I64, (double)(1 - s->time)));
    if (s->total == s->time) /* the first steps, of which the last may be padding */
        s->from = g_scalar(g, TS_I64, 0);
    if (s->from && s->from->type.rank != 1)
        s->from = g_reshape(g, s->from, 1, (int64_t[]){1});
    s->from = g_broadcast(g, s->from, 1, &batch);
    s->at = g_call2(g, "add", g_along(g, s->from, 4, 0), g_along(g, g_count(g, s->time, TS_I64), 2, 0));
    return s->at != NULL;
}

/* The cache with what comes, [batch, few, room, width]. */
static const node *updated(const heads *h, const cache *s, const node *past, const node *x)
{
    graph *g = h->g;
    if (!x || (!past && s->room == s->time))
        return x;
    type t = x->type;
    t.dim[2] = s->room - (past ? past->type.dim[2] : 0);
    const node *more = t.dim[2] ? g_filled(g, &t, 0) : NULL; /* [batch, few, room - past, width] */
    past = more ? joined(g, past, more, 2) : past;
    return g_call3(g, "overwrite axis=2", past, x, s->from);
}

/* Where step i, at place p, sees key j: j <= p, and p - j < the window */
static const node *seen(const heads *h, const cache *s)
{
    graph *g = h->g;
    const int64_t window = onnx_int(h->c, "local_window_size", -1);
    const node *j = g_count(g, s->room, TS_I64);              /* [room] */
    const node *allowed = g_call2(g, "less_equal", j, s->at); /* [batch, 1, time, room] */
    if (window < 0)
        return allowed;
    const node *first = g_call2(g, "subtract", s->at, g_scalar(g, TS_I64, (double)window)); /* [batch, 1, time, 1] */
    return g_call2(g, "logical_and", allowed, g_call2(g, "less", first, j));
}

/* One more key, of score `sink` [heads] or 0, and of no value: what softmax divides by grows. */
static bool add_sink(heads *h, const node *sink)
{
    graph *g = h->g;
    const int64_t *dim = h->q->type.dim, n = h->k->type.dim[2];
    const node **part[] = {&h->k, &h->v};
    for (int i = 0; i < 2; i++) {
        type t = (*part[i])->type;
        t.dim[2] = 1;
        *part[i] = joined(g, *part[i], g_filled(g, &t, 0), 2);
    }
    const node *zero = g_scalar_like(g, h->q, 0); /* [] */
    sink = sink ? g_reshape(g, sink, 4, (int64_t[]){1, h->heads, 1, 1}) : zero;
    /* [batch, heads, time, 1], behind [batch, heads, time, keys] */
    const node *last = sink ? g_broadcast(g, sink, 4, (int64_t[]){dim[0], h->heads, dim[2], 1}) : NULL;
    const node *mask = h->mask->type.dtype == TS_BOOL
                           ? g_call3(g, "where", h->mask, zero, g_scalar_like(g, h->q, -INFINITY))
                           : h->mask;
    mask = mask ? g_broadcast(g, mask, 4, (int64_t[]){dim[0], h->heads, dim[2], n}) : NULL;
    h->mask = mask && last ? joined(g, mask, last, 3) : NULL;
    return h->mask != NULL;
}

/* q with k and v beside, or all three in one [batch, time, (heads + 2 few) width]. */
static bool read_groups(heads *h, err *e)
{
    graph *g = h->g;
    const onnx_call *c = h->c;
    const node *x = c->in[0], *k = onnx_in(c, 1), *v = onnx_in(c, 2);
    h->heads = onnx_int(c, "num_heads", 0), h->few = onnx_int(c, "kv_num_heads", 0);
    if (h->heads < 1 || h->few < 1 || h->heads > 1 << 20 || h->few > h->heads || x->type.rank != 3 || !k != !v)
        return operands_refuse(c->n_in < 3 ? c->n_in : 3, c->in, e, "[batch, time, width] of %lld and %lld heads",
                               (long long)h->heads, (long long)h->few);
    const int64_t all = h->heads + 2 * h->few, width = x->type.dim[2] / all;
    if (!k && x->type.dim[2] % all)
        return operands_refuse(1, c->in, e, "%lld heads side by side", (long long)all);
    h->q = attend_apart(g, k ? x : g_part(g, x, 2, 0, h->heads * width), h->heads);
    h->k = attend_apart(g, k ? k : g_part(g, x, 2, h->heads * width, h->few * width), h->few);
    h->v = attend_apart(g, v ? v : g_part(g, x, 2, (h->heads + h->few) * width, h->few * width), h->few);
    h->past_k = onnx_in(c, 3), h->past_v = onnx_in(c, 4);
    if (h->past_k && (h->past_k->type.rank != 4 || !h->past_v))
        return operands_refuse(1, &h->past_k, e, "a past of keys and of values [batch, heads, time, width]");
    return h->q && h->k && h->v;
}

static bool adapt_groups(const onnx_call *c, const node **out, err *e)
{
    static const char *const no[] = {"sliding_window_cache", "kv_cache_bit_width", "qk_output"};
    graph *g = c->g;
    heads h = {.c = c, .g = g};
    cache s;
    const node *bias = onnx_in(c, 10), *y[4]; /* beside [batch, heads, time, total], [batch, heads, time, width] */
    for (int i = 0; i < COUNT(no); i++)
        if (onnx_int(c, no[i], 0))
            return err_set(e, TS_UNSUPPORTED, "GroupQueryAttention: %s, 0 expected", no[i]);
    for (int i = 12; i < c->n_in; i++)
        if (onnx_in(c, i))
            return err_set(e, TS_UNSUPPORTED,
                           "GroupQueryAttention: operand %d, of caches of a few bits or of norms; "
                           "none expected",
                           i + 1);
    if (!read_groups(&h, e) || !onnx_in(c, 5))
        return err_is(e) ? false : err_set(e, TS_BAD_INPUT, "GroupQueryAttention: seqlens_k is missing");
    if (!read_cache(&h, &s, e))
        return false;
    if (onnx_int(c, "do_rotary", 0)) {
        const node *at = onnx_in(c, 9); /* [batch, time] */
        if (!onnx_in(c, 7) || !onnx_in(c, 8))
            return err_set(e, TS_BAD_INPUT, "GroupQueryAttention: do_rotary=1 without cos_cache and sin_cache");
        at = at ? at : g_reshape(g, s.at, 2, (int64_t[]){h.q->type.dim[0], s.time});
        h.q = rotated(c, h.q, at, c->in[7], c->in[8]), h.k = rotated(c, h.k, at, c->in[7], c->in[8]);
    }
    h.k = updated(&h, &s, h.past_k, h.k), h.v = updated(&h, &s, h.past_v, h.v);
    h.past_k = h.past_v = NULL;
    const node *present[] = {NULL, h.k, h.v}; /* [batch, few, room, width] */
    h.mask = onnx_int(c, "causal", 1)
                 ? seen(&h, &s)
                 : g_call2(g, "less", g_count(g, s.room, TS_I64),
                           g_reshape(g, g_call2(g, "add", s.from, g_scalar(g, TS_I64, (double)s.time)), 4,
                                     (int64_t[]){h.q ? h.q->type.dim[0] : 1, 1, 1, 1}));
    if (!h.q || !h.k || !h.v || !h.mask)
        return onnx_give(c, out, NULL, e);
    if (bias) /* of the keys that there are */
        h.k = g_part(g, h.k, 2, 0, s.total), h.v = g_part(g, h.v, 2, 0, s.total),
        h.mask = g_call3(g, "where", g_part(g, h.mask, 3, 0, s.total), bias, g_scalar_like(g, bias, -INFINITY));
    if ((onnx_in(c, 11) || onnx_int(c, "smooth_softmax", 0) > 0) && (!h.mask || !add_sink(&h, onnx_in(c, 11))))
        return false;
    if (!attended(&h, 1, y) || !onnx_give(c, out, attend_together(g, y[0]), e))
        return onnx_give(c, out, NULL, e);
    for (int i = 1; i < 3 && i < c->n_out; i++)
        out[i] = present[i];
    return true;
}

/* ---- records ---- */
const op ops_heads[] = {
    {.call = "heads",
     .doc = "Attention with its projections, masks and caches, as other operations.",
     .adapted = ADAPTED(
         {"com.microsoft.Attention 1 FFFiFFi 2..7 >2 do_rotary mask_filter_value num_heads past_present_share_buffer "
          "qkv_hidden_sizes rotary_embedding_dim scale unidirectional",
          adapt_attention},
         {"com.microsoft.QAttention 1 iifffiiif 5..9 >2 do_rotary mask_filter_value num_heads "
          "past_present_share_buffer scale unidirectional",
          adapt_integers},
         {"com.microsoft.MultiHeadAttention 1 FFFFiFFFi 1..10 >4 mask_filter_value num_heads scale unidirectional",
          adapt_multi_head},
         {"com.microsoft.RotaryEmbedding 1 FiFF 4 interleaved is_packed_batching num_heads rotary_embedding_dim scale",
          adapt_rotary},
         {"com.microsoft.GroupQueryAttention 1 fffffiiffifffffffi 1..17 >4 causal do_rotary k_norm_epsilon "
          "k_quant_type kv_cache_bit_width kv_num_heads local_window_size num_heads q_norm_epsilon qk_norm_epsilon "
          "qk_output rotary_interleaved scale sliding_window_cache smooth_softmax softcap v_quant_type",
          adapt_groups}),
     .onnx_cases =
         "com.microsoft.Attention f32[2,3,8] f32[8,24] f32[24] num_heads=2\ncom.microsoft.QAttention u8[2,3,8] "
         "i8[8,24] "
         "f32[24]* f32[]=0.1 f32[]=0.1 num_heads=2\ncom.microsoft.MultiHeadAttention f32[2,3,8] f32[2,5,8] f32[2,5,8] "
         "num_heads=2\ncom.microsoft.RotaryEmbedding f32[2,3,8] i64[2,3]<9 f32[9,2] f32[9,2] num_heads=2\n"
         "com.microsoft.GroupQueryAttention f32[2,3,8] f32[2,3,4] f32[2,3,4] - - i32[2]=2 i32[]=3 num_heads=2 "
         "kv_num_heads=1"},
    {0},
};
