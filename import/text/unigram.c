/* unigram.c - of all ways to cover a word by tokens the one whose scores, logarithms of their shares, have the largest
 * sum. A character that no token covers alone scores less than any token; neighbours of that kind are one. */
#include "import/text/tokenizer.h"
#include "import/text/unicode.h"

#include <stdlib.h>

enum { PENALTY = 10 }; /* below the least score */
typedef struct unigram {
    double *score; /* by id */
    double least;
    lexicon tokens;
    int64_t unknown, byte[256]; /* -1: none */
    bool bytes;                 /* what is unknown is spelled in bytes */
} unigram;

typedef struct reach { /* the best way to a place */
    double score;
    int64_t id;
    size_t from; /* SIZE_MAX: none */
} reach;

static void offer(reach *to, double score, int64_t id, size_t from)
{
    if (to->from == SIZE_MAX || score > to->score)
        *to = (reach){score, id, from};
}

/* Viterbi's way through the word; for free(). */
static reach *best_way(const unigram *u, const char *s, size_t n)
{
    reach *to = heap_array(n + 1, sizeof *to);
    for (size_t i = 1; i <= n; i++)
        to[i].from = SIZE_MAX;
    for (size_t i = 0, step; i < n; i += step) {
        uint32_t c;
        int64_t id;
        bool alone = false;
        step = unicode_next(s + i, n - i, &c);
        lexicon_walk w = lexicon_begin(&u->tokens);
        for (size_t k = i; k < n && lexicon_next(&u->tokens, &w, (unsigned char)s[k], &id); k++)
            if (id >= 0) {
                offer(&to[k + 1], u->score[id] + to[i].score, id, i);
                alone = alone || k + 1 - i == step;
            }
        if (!alone)
            offer(&to[i + step], u->least - PENALTY + to[i].score, u->unknown, i);
    }
    return to;
}

/* The tokens of s[at, at+n), which the way takes as one. */
static void put(const tokenizer *t, const char *s, size_t n, ids *out)
{
    const unigram *u = t->own;
    const int64_t id = vocab_find(&t->vocab, s, n);
    bool all = u->bytes;
    for (size_t i = 0; all && i < n; i++)
        all = u->byte[(unsigned char)s[i]] >= 0;
    if (id >= 0 && id < u->tokens.n)
        ids_add(out, id);
    else if (all)
        for (size_t i = 0; i < n; i++)
            ids_add(out, u->byte[(unsigned char)s[i]]);
    else if (u->unknown >= 0)
        ids_add(out, u->unknown);
}

static void encode(const tokenizer *t, const char *s, size_t n, ids *out)
{
    const unigram *u = t->own;
    reach *to = best_way(u, s, n);
    size_t *cut = heap_array(n + 1, sizeof *cut), k = 0; /* ends, from behind */
    for (size_t i = n; i > 0;) {
        cut[k++] = i;
        const int64_t id = to[i].id;
        i = to[i].from;
        while (i > 0 && id == u->unknown && to[i].id == id)
            i = to[i].from;
    }
    for (size_t begin = 0; k-- > 0; begin = cut[k])
        put(t, s + begin, cut[k] - begin, out);
    free(to), free(cut);
}

static bool read(tokenizer *t, const json *model, err *e)
{
    unigram *u = t->own = arena_get(&t->mem, sizeof *u);
    const json *all = json_get(model, "vocab"), *unknown = json_get(model, "unk_id");
    if (!all || all->kind != JSON_LIST)
        return json_refuse(e, all ? all : model, TS_BAD_INPUT, "Unigram needs a list \"vocab\" of [TOKEN, SCORE]");
    const size_t n = (size_t)t->vocab.n;
    u->score = arena_array(&t->mem, n + 1, sizeof *u->score);
    u->tokens.at = arena_array(&t->mem, n + 1, sizeof *u->tokens.at);
    u->unknown = -1;
    if (unknown && unknown->kind != JSON_NULL &&
        (!json_whole(unknown, &u->unknown) || u->unknown < 0 || u->unknown >= t->vocab.n))
        return json_refuse(e, unknown, TS_BAD_INPUT, "unk_id is a place of the vocabulary, which has %lld tokens",
                           (long long)t->vocab.n);
    int64_t id = 0;
    for (const json *i = all->first; i; i = i->next, id++) {
        const json *score = i->first ? i->first->next : NULL;
        if (!score || score->kind != JSON_NUMBER)
            return json_refuse(e, i, TS_BAD_INPUT, "[TOKEN, SCORE] expected");
        u->score[id] = score->number;
        u->least = !id || score->number < u->least ? score->number : u->least;
        u->tokens.at[u->tokens.n++] = (lexicon_entry){t->vocab.by_id[id].s, (size_t)t->vocab.by_id[id].n, id};
    }
    lexicon_sort(&u->tokens);
    vocab_byte_tokens(&t->vocab, u->byte);
    u->bytes = json_truth(model, "byte_fallback", false);
    return true;
}

const token_model token_model_unigram = {"Unigram", read, encode};
