/* ngrams.c - how often the given short sequences occur in longer ones, with up to some elements skipped between any two
 * of theirs. */
#include "graph/ir/rule.h"

#include <string.h>

/* ---- ONNX ---- */
/* The columns of counts [rows, grams] put where `index` says among `width`. */
static const node *placed(graph *g, const node *counts, const attr *index, int64_t width)
{
    const type t = {.dtype = TS_F32, .rank = 2, .dim = {counts->type.dim[0], width}};
    return g_call3(g, "scatter axis=1 reduce=add", g_filled(g, &t, 0), g_ints(g, index->n, index->ints), counts);
}

/* Counts of all sequences of the pool, in its order; starts[k]: where those of k + 1 elements begin. */
static const node *counted(const onnx_call *c, const node *x, const attr *pool, const attr *starts, err *e)
{
    graph *g = c->g;
    const int64_t least = onnx_int(c, "min_gram_length", 1), most = onnx_int(c, "max_gram_length", 1);
    const int64_t skips = onnx_int(c, "max_skip_count", 0);
    const node *all = NULL;
    for (int k = 0; k < starts->n; k++) {
        const int64_t size = k + 1, from = starts->ints[k], to = k + 1 < starts->n ? starts->ints[k + 1] : pool->n;
        if (from < 0 || to < from || to > pool->n || (to - from) % size || skips < 0)
            return err_set(e, TS_BAD_INPUT,
                           "TfIdfVectorizer: sequences of %lld elements from %lld to %lld of a pool "
                           "of %d, whole ones inside it expected",
                           (long long)size, (long long)from, (long long)to, pool->n),
                   NULL;
        if (from == to)
            continue;
        const type t = {.dtype = TS_I64, .rank = 2, .dim = {(to - from) / size, size}};
        const node *in[] = {x, g_const(g, "", &t, pool->ints + from)};
        const type none = {.dtype = TS_F32, .rank = 2, .dim = {x->type.dim[0], t.dim[0]}};
        const node *counts = size < least || size > most
                                 ? g_filled(g, &none, 0)
                                 : g_callf(g, 2, in, "ngrams skips=%lld", (long long)(size > 1 ? skips : 0));
        all = all ? g_call2(g, "concat axis=1", all, counts) : counts;
    }
    return all || err_set(e, TS_BAD_INPUT, "TfIdfVectorizer: the pool is empty, at least one sequence expected") ? all
                                                                                                                 : NULL;
}

static const char *kind_of(const attr *a)
{
    return !a ? "missing" : a->kind == 'I' ? "one" : "another kind";
}

static bool adapt_tf_idf(const onnx_call *c, const node **out, err *e)
{
    graph *g = c->g;
    const attr *pool = onnx_attr(c, "pool_int64s"), *starts = onnx_attr(c, "ngram_counts"),
               *index = onnx_attr(c, "ngram_indexes"), *weights = onnx_attr(c, "weights");
    const char *mode = onnx_word(c, "mode", "TF");
    int64_t width = 0;
    if (!pool || !starts || !index || pool->kind != 'I' || starts->kind != 'I' || index->kind != 'I')
        return err_set(e, pool ? TS_BAD_INPUT : TS_UNSUPPORTED,
                       "TfIdfVectorizer: pool_int64s is %s, ngram_counts %s, ngram_indexes %s; lists expected",
                       kind_of(pool), kind_of(starts), kind_of(index));
    const type *t = &c->in[0]->type;
    if (t->rank < 1 || t->rank > 2 || dtype_class(t->dtype) != D_WHOLE)
        return err_set(e, TS_BAD_INPUT, "TfIdfVectorizer: %s of rank %d; integers of rank 1 or 2 expected",
                       ts_dtype_name(t->dtype), t->rank);
    const int64_t shape[] = {t->rank == 2 ? t->dim[0] : 1, t->dim[t->rank - 1]};
    /* [batch, sequences] */
    const node *y = counted(c, g_reshape(g, g_cast(g, c->in[0], TS_I64), 2, shape), pool, starts, e);
    if (!y || y->type.dim[1] != index->n || (weights && weights->n != index->n))
        return err_is(e) ? false : err_set(e, TS_BAD_INPUT, "TfIdfVectorizer: %d places for other sequences", index->n);
    for (int i = 0; i < index->n; i++)
        width = index->ints[i] >= width ? index->ints[i] + 1 : width;
    if (!strcmp(mode, "IDF"))
        y = g_call2(g, "minimum", y, g_scalar_like(g, y, 1));
    if (strcmp(mode, "TF") && weights) {
        float *w = arena_array(&g->mem, (size_t)weights->n + 1, sizeof *w);
        for (int i = 0; i < weights->n; i++)
            w[i] = (float)weights->reals[i];
        y = g_call2(g, "multiply", y, g_const(g, "", &(type){.dtype = TS_F32, .rank = 1, .dim = {weights->n}}, w));
    }
    y = placed(g, y, index, width);
    return onnx_give(c, out, y && t->rank == 1 ? g_reshape(g, y, 1, &width) : y, e);
}

/* ---- shape, body ---- */
static bool ngrams_shape(const node *n, type *out, err *e)
{
    const type *x = &n->in[0]->type, *pool = &n->in[1]->type;
    *out = (type){.dtype = TS_F32, .rank = 2, .dim = {x->dim[0], pool->dim[0]}};
    if (x->rank != 2 || pool->rank != 2 || x->dtype != TS_I64 || pool->dtype != TS_I64)
        return operands_refuse(2, n->in, e, "rows [n, elements] and sequences [m, elements] of i64");
    if (node_int(n, "skips") < 0)
        return err_set(e, TS_BAD_INPUT, "skips: %lld, 0 or more expected", (long long)node_int(n, "skips"));
    return true;
}

/* y[r, i] = sum over skips s, starts p of the product over j of (x[r, p + j * (s + 1)] == pool[i, j]),
 * which is 0 from s = length on */
static const expr *ngrams_body(defn *d)
{
    arena *mem = d->mem;
    const int64_t length = d->node->in[0]->type.dim[1], size = d->node->in[1]->type.dim[1];
    const int64_t skips = node_int(d->node, "skips"), most = size > 1 && skips > length ? length : skips;
    const int skip = defn_fold(d, most + 1), start = defn_fold(d, length);
    const expr *found = x_whole(mem, 1), *place = x_axis(mem, start);
    for (int64_t j = 0; j < size; j++) {
        const expr *here = j ? place = x2(mem, "add", place, x_offset(mem, x_axis(mem, skip), 1, 1)) : place;
        const expr *x = defn_at(d, 0, (const expr *[]){x_axis(mem, 0), here});
        const expr *same = x2(mem, "eq", x, defn_at(d, 1, (const expr *[]){x_axis(mem, 1), x_whole(mem, j)}));
        found = j ? x2(mem, "and", found, same) : same;
    }
    found = x3(mem, "select", x_inside(mem, place, 0, length), x_cast(mem, TS_F32, found), x_real(mem, 0));
    return x_fold(mem, "add", 1u << skip | 1u << start, found);
}

/* ---- records ---- */
const op ops_ngrams[] = {
    BODY("ngrams a b skips:i=0 -> r i", ngrams_body, "ngrams(a, b, skips)", NULL,
         "i64[3,40]<3 i64[5,2]<3\ni64[2,30]<2 i64[4,3]<2 skips=4\ni64[1,9]<4 i64[3,1]<4\ni64[2,1]<3 i64[2,2]<3\n"
         "i64[2,0] i64[2,2]<3 skips=1\ni64[1,6]<2 i64[2,2]<2 skips=9223372036854775806",
         "How often each of the sequences [m, k] occurs in each row of [n, elements], with the same number of "
         "elements left out between any two, from 0 to `skips`.",
         .adapted = ADAPTED({"TfIdfVectorizer 9 i 1 max_gram_length max_skip_count min_gram_length mode ngram_counts "
                             "ngram_indexes pool_int64s pool_strings weights",
                             adapt_tf_idf}),
         .onnx_cases = "TfIdfVectorizer i64[5] mode=TF pool_int64s=[1,2] ngram_counts=[0] ngram_indexes=[0,1] "
                       "min_gram_length=1 max_gram_length=1 max_skip_count=0",
         .shape = ngrams_shape),
    {0},
};
