/* bpe.c - byte-pair encoding: a word starts as its characters, those behind the first with a prefix, the last with a
 * suffix where the vocabulary has them; of all neighbours the pair that stands first in the list of merges becomes one
 * token, until none is left. A heap of candidate pairs keeps this n log n. */
#include "import/text/tokenizer.h"
#include "import/text/unicode.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_AFFIX = 64 };
typedef struct merge {
    int64_t left, right; /* left -1: a free slot */
    int64_t rank, made;
} merge;
typedef struct bpe {
    merge *slot; /* open hash table */
    size_t n_slot;
    int64_t byte[256]; /* ids of the tokens "<0x00>" and so on, -1: none */
    int64_t unknown;   /* -1: characters without a token vanish */
    bool whole;        /* a word that is a token is taken as it is */
    bool fuse, bytes;  /* unknown neighbours are one; what is unknown is spelled in bytes */
    const char *prefix, *suffix;
    size_t n_prefix, n_suffix;
} bpe;

/* ---- the table of merges ---- */
static merge *merge_slot(const bpe *p, int64_t left, int64_t right)
{
    const int64_t key[2] = {left, right};
    size_t i = quick_hash(key, sizeof key, 0) & (p->n_slot - 1);
    while (p->slot[i].left >= 0 && (p->slot[i].left != left || p->slot[i].right != right))
        i = (i + 1) & (p->n_slot - 1);
    return &p->slot[i];
}

/* The two halves of entry v: "a b", or ["a", "b"]. */
static bool halves(const json *v, text *a, text *b, err *e)
{
    const char *first = NULL, *second = NULL;
    const size_t n = v->kind == JSON_TEXT ? strcspn(v->text, " ") : 0;
    a->length = b->length = 0;
    if (n && v->text[n] && !strchr(v->text + n + 1, ' ')) {
        text_bytes(a, v->text, n), text_add(b, "%s", v->text + n + 1);
        return true;
    }
    if (v->kind == JSON_LIST && v->first && v->first->next && !v->first->next->next && v->first->kind == JSON_TEXT &&
        v->first->next->kind == JSON_TEXT)
        first = v->first->text, second = v->first->next->text;
    if (!first)
        return json_expect(v, "two tokens, \"a b\" or [\"a\", \"b\"],", e);
    text_add(a, "%s", first), text_add(b, "%s", second);
    return true;
}

static bool add_merge(tokenizer *t, const json *v, int64_t rank, text *a, text *b, err *e)
{
    bpe *p = t->own;
    if (!halves(v, a, b, e))
        return false;
    const int64_t left = vocab_find(&t->vocab, text_str(a), a->length),
                  right = vocab_find(&t->vocab, text_str(b), b->length);
    const size_t skip = b->length < p->n_prefix ? b->length : p->n_prefix; /* inside a token it has none */
    text_bytes(a, text_str(b) + skip, b->length - skip);
    const int64_t made = vocab_find(&t->vocab, text_str(a), a->length);
    if (left < 0 || right < 0 || made < 0)
        return json_refuse(e, v, TS_BAD_INPUT, "a merge of tokens that the vocabulary lacks");
    merge *m = merge_slot(p, left, right);
    *m = (merge){left, right, rank, made}; /* of two that are the same the last holds, as in the reference */
    return true;
}

static bool options(tokenizer *t, const json *model, err *e)
{
    bpe *p = t->own;
    const json *dropout = json_get(model, "dropout");
    const char *unknown = NULL;
    p->prefix = p->suffix = "";
    if (dropout && dropout->kind != JSON_NULL && !(dropout->kind == JSON_NUMBER && dropout->number == 0)) {
        json_refuse(e, dropout, TS_UNSUPPORTED, "dropout is not supported: a text always gives the same tokens");
        return err_hint(e, "set it to null, as for everything but training");
    }
    if (!json_text_of(model, "unk_token", &unknown, e) ||
        !json_text_of(model, "continuing_subword_prefix", &p->prefix, e) ||
        !json_text_of(model, "end_of_word_suffix", &p->suffix, e))
        return false;
    p->n_prefix = strlen(p->prefix), p->n_suffix = strlen(p->suffix);
    if (p->n_prefix + p->n_suffix > MOST_AFFIX)
        return json_refuse(e, model, TS_BAD_INPUT, "a prefix and a suffix of %zu bytes, at most %d",
                           p->n_prefix + p->n_suffix, MOST_AFFIX);
    p->unknown = unknown ? vocab_find(&t->vocab, unknown, strlen(unknown)) : -1;
    p->whole = json_truth(model, "ignore_merges", false);
    p->fuse = json_truth(model, "fuse_unk", false), p->bytes = json_truth(model, "byte_fallback", false);
    vocab_byte_tokens(&t->vocab, p->byte);
    return true;
}

static bool read(tokenizer *t, const json *model, err *e)
{
    bpe *p = t->own = arena_get(&t->mem, sizeof *p);
    const json *merges = json_get(model, "merges");
    if (!merges || merges->kind != JSON_LIST)
        return json_refuse(e, model, TS_BAD_INPUT, "no list \"merges\"");
    if (!options(t, model, e))
        return false;
    const size_t n = json_count(merges);
    for (p->n_slot = 1024; p->n_slot < 2 * n;)
        p->n_slot *= 2;
    p->slot = arena_array(&t->mem, p->n_slot, sizeof *p->slot);
    for (size_t i = 0; i < p->n_slot; i++)
        p->slot[i].left = -1;
    ENDED_BY(text_free) text a = {0}, b = {0};
    bool ok = true;
    int64_t rank = 0;
    for (const json *i = merges->first; ok && i; i = i->next)
        ok = add_merge(t, i, rank++, &a, &b, e);
    return ok;
}

/* ---- encoding ---- */
typedef struct symbol {
    int64_t id, before, next; /* neighbours; -1: none. id -1: merged away */
} symbol;
typedef struct pair {
    int64_t rank, at, made;
} pair;
typedef struct heap {
    pair *all;
    int n, cap;
} heap;

static bool sooner(const pair *a, const pair *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->at < b->at;
}

static void heap_push(heap *h, pair p)
{
    h->all = heap_grown(h->all, h->n, &h->cap, sizeof *h->all);
    int i = h->n++;
    for (; i > 0 && sooner(&p, &h->all[(i - 1) / 2]); i = (i - 1) / 2)
        h->all[i] = h->all[(i - 1) / 2];
    h->all[i] = p;
}

static pair heap_pop(heap *h)
{
    const pair top = h->all[0], last = h->all[--h->n];
    int i = 0;
    for (int k; (k = 2 * i + 1) < h->n; i = k) {
        k += k + 1 < h->n && sooner(&h->all[k + 1], &h->all[k]);
        if (!sooner(&h->all[k], &last))
            break;
        h->all[i] = h->all[k];
    }
    if (h->n)
        h->all[i] = last;
    return top;
}

static void offer(const bpe *p, heap *h, const symbol *s, int64_t at)
{
    if (at < 0 || s[at].next < 0)
        return;
    const int64_t left = s[at].id, right = s[s[at].next].id;
    const merge *m = merge_slot(p, left, right);
    if (m->left >= 0)
        heap_push(h, (pair){m->rank, at, m->made});
}

static void merge_all(const bpe *p, symbol *s, int64_t n)
{
    heap h = {0};
    for (int64_t i = 0; i < n; i++)
        offer(p, &h, s, i);
    while (h.n) {
        const pair best = heap_pop(&h);
        symbol *l = &s[best.at];
        if (l->id < 0 || l->next < 0)
            continue;
        const merge *m = merge_slot(p, l->id, s[l->next].id);
        if (m->left < 0 || m->made != best.made)
            continue; /* what stood there was merged meanwhile, and makes something else now */
        symbol *r = &s[l->next];
        l->id = best.made, r->id = -1;
        l->next = r->next;
        if (l->next >= 0)
            s[l->next].before = best.at;
        offer(p, &h, s, l->before);
        offer(p, &h, s, best.at);
    }
    free(h.all);
}

/* Symbols of a word, in order. */
typedef struct symbols {
    symbol *all;
    int64_t n;
    bool pending; /* an unknown one, which is added behind what follows it in bytes, as in the reference */
} symbols;

static void add_symbol(symbols *l, int64_t id)
{
    l->all[l->n] = (symbol){id, l->n - 1, l->n + 1};
    l->n++;
}

static void add_pending(const bpe *p, symbols *l)
{
    if (l->pending)
        add_symbol(l, p->unknown);
    l->pending = false;
}

/* The character of n bytes at s, with what the vocabulary spells around it. */
static void add_character(const tokenizer *t, symbols *l, piece c, bool first, bool last)
{
    const bpe *p = t->own;
    char room[MOST_AFFIX + 8];
    const size_t before = first ? 0 : p->n_prefix, behind = last ? p->n_suffix : 0, n = before + c.n + behind;
    memcpy(room, p->prefix, before), memcpy(room + before, c.s, c.n);
    memcpy(room + before + c.n, p->suffix, behind);
    const int64_t id = vocab_find(&t->vocab, room, n);
    if (id >= 0) {
        add_pending(p, l);
        add_symbol(l, id);
        return;
    }
    bool all = p->bytes;
    for (size_t i = 0; all && i < n; i++)
        all = p->byte[(unsigned char)room[i]] >= 0;
    for (size_t i = 0; all && i < n; i++)
        add_symbol(l, p->byte[(unsigned char)room[i]]);
    if (all || p->unknown < 0)
        return;
    if (!p->fuse)
        add_pending(p, l);
    l->pending = true;
}

static void encode(const tokenizer *t, const char *s, size_t n, ids *out)
{
    const bpe *p = t->own;
    const int64_t whole = p->whole ? vocab_find(&t->vocab, s, n) : -1;
    if (whole >= 0) {
        ids_add(out, whole);
        return;
    }
    symbols l = {.all = heap_array(n * (1 + p->n_prefix) + p->n_suffix + 1, sizeof *l.all)};
    for (size_t i = 0, step; i < n; i += step) {
        uint32_t c;
        step = unicode_next(s + i, n - i, &c);
        add_character(t, &l, (piece){.s = s + i, .n = step}, !i, i + step == n);
    }
    add_pending(p, &l);
    if (l.n)
        l.all[l.n - 1].next = -1;
    merge_all(p, l.all, l.n);
    for (int64_t i = 0; i < l.n; i++)
        if (l.all[i].id >= 0)
            ids_add(out, l.all[i].id);
    free(l.all);
}

const token_model token_model_bpe = {"BPE", read, encode};
