/* bpe.c - byte-pair encoding over bytes: a word starts as its bytes; of all neighbours the pair that stands first in
 * the list of merges becomes one token, until none is left. A heap of candidate pairs keeps this n log n. */
#include "import/text/tokenizer.h"
#include "import/text/unicode.h"

#include <stdlib.h>
#include <string.h>

typedef struct merge {
    int64_t left, right; /* left -1: a free slot */
    int64_t rank, made;
} merge;
typedef struct bpe {
    merge *slot; /* open hash table */
    size_t n_slot;
    int64_t byte[256]; /* id of each single byte, -1: none */
    int64_t unknown;   /* -1: bytes without a token vanish */
    bool whole;        /* a word that is a token is taken as it is */
} bpe;

/* ---- bytes as printable characters: how tokenizer.json spells them ---- */
static bool plain(int byte)
{
    return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255);
}

/* Bytes that do not print are U+0100, U+0101, ... in their order. */
static int byte_of(uint32_t c)
{
    if (c < 256)
        return plain((int)c) ? (int)c : -1;
    uint32_t next = 256;
    for (int i = 0; i < 256; i++)
        if (!plain(i) && next++ == c)
            return i;
    return -1;
}

bool byte_level(const char *key, text *out)
{
    const size_t n = strlen(key);
    for (size_t i = 0; i < n;) {
        uint32_t c;
        i += unicode_next(key + i, n - i, &c);
        const int b = byte_of(c);
        if (b < 0)
            return false;
        text_bytes(out, &(char){(char)b}, 1);
    }
    return true;
}

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
    a->length = b->length = 0;
    text room = {0};
    if (v->kind == JSON_TEXT && strchr(v->text, ' ')) {
        text_bytes(&room, v->text, strcspn(v->text, " "));
        first = text_str(&room), second = strchr(v->text, ' ') + 1;
    } else if (v->kind == JSON_LIST && v->first && v->first->next && !v->first->next->next &&
               v->first->kind == JSON_TEXT && v->first->next->kind == JSON_TEXT)
        first = v->first->text, second = v->first->next->text;
    const bool good = first && byte_level(first, a) && byte_level(second, b);
    text_free(&room);
    return good || json_expect(v, "two tokens of bytes, \"a b\" or [\"a\", \"b\"],", e);
}

static bool add_merge(tokenizer *t, const json *v, int64_t rank, text *a, text *b, err *e)
{
    bpe *p = t->own;
    if (!halves(v, a, b, e))
        return false;
    const int64_t left = vocab_find(&t->vocab, text_str(a), a->length),
                  right = vocab_find(&t->vocab, text_str(b), b->length);
    text_bytes(a, text_str(b), b->length);
    const int64_t made = vocab_find(&t->vocab, text_str(a), a->length);
    if (left < 0 || right < 0 || made < 0)
        return json_refuse(e, v, TS_BAD_INPUT, "a merge of tokens that the vocabulary lacks");
    merge *m = merge_slot(p, left, right);
    if (m->left < 0)
        *m = (merge){left, right, rank, made};
    return true;
}

static bool refuse_options(const json *model, err *e)
{
    static const char *const none[] = {"continuing_subword_prefix", "end_of_word_suffix", "dropout"};
    for (int i = 0; i < COUNT(none); i++) {
        const json *v = json_get(model, none[i]);
        if (v && v->kind != JSON_NULL && !(v->kind == JSON_TEXT && !*v->text))
            return json_refuse(e, v, TS_UNSUPPORTED, "%s is not supported: only byte-level BPE is", none[i]);
    }
    return true;
}

static bool read(tokenizer *t, const json *model, err *e)
{
    bpe *p = t->own = arena_get(&t->mem, sizeof *p);
    const json *merges = json_get(model, "merges"), *unknown = json_get(model, "unk_token");
    if (!t->bytes)
        return json_refuse(e, model, TS_UNSUPPORTED, "BPE over characters is not supported: only byte-level BPE is");
    if (!merges || merges->kind != JSON_LIST)
        return json_refuse(e, model, TS_BAD_INPUT, "no list \"merges\"");
    if (!refuse_options(model, e))
        return false;
    size_t n = 0;
    for (const json *i = merges->first; i; i = i->next)
        n++;
    for (p->n_slot = 1024; p->n_slot < 2 * n;)
        p->n_slot *= 2;
    p->slot = arena_array(&t->mem, p->n_slot, sizeof *p->slot);
    for (size_t i = 0; i < p->n_slot; i++)
        p->slot[i].left = -1;
    for (int i = 0; i < 256; i++)
        p->byte[i] = vocab_find(&t->vocab, &(char){(char)i}, 1);
    p->unknown = unknown && unknown->kind == JSON_TEXT ? vocab_find(&t->vocab, unknown->text, strlen(unknown->text))
                                                       : -1;
    p->whole = json_truth(model, "ignore_merges", false);
    text a = {0}, b = {0};
    bool good = true;
    int64_t rank = 0;
    for (const json *i = merges->first; good && i; i = i->next)
        good = add_merge(t, i, rank++, &a, &b, e);
    text_free(&a), text_free(&b);
    return good;
}

/* ---- encoding ---- */
typedef struct symbol {
    int64_t id, before, next; /* neighbours; -1: none. id -1: merged away */
} symbol;
typedef struct pair {
    int64_t rank, at, left, right, made;
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
        heap_push(h, (pair){m->rank, at, left, right, m->made});
}

static void merge_all(const bpe *p, symbol *s, int64_t n)
{
    heap h = {0};
    for (int64_t i = 0; i < n; i++)
        offer(p, &h, s, i);
    while (h.n) {
        const pair best = heap_pop(&h);
        symbol *l = &s[best.at];
        if (l->id != best.left || l->next < 0 || s[l->next].id != best.right)
            continue; /* what stood there was merged meanwhile */
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

static void encode(const tokenizer *t, const char *s, size_t n, ids *out)
{
    const bpe *p = t->own;
    const int64_t whole = p->whole ? vocab_find(&t->vocab, s, n) : -1;
    if (whole >= 0) {
        ids_add(out, whole);
        return;
    }
    symbol *all = heap_array(n, sizeof *all);
    int64_t k = 0;
    for (size_t i = 0; i < n; i++) {
        const int64_t byte = p->byte[(unsigned char)s[i]], id = byte >= 0 ? byte : p->unknown;
        if (id >= 0)
            all[k] = (symbol){id, k - 1, k + 1}, k++;
    }
    if (k)
        all[k - 1].next = -1;
    merge_all(p, all, k);
    for (int64_t i = 0; i < k; i++)
        if (all[i].id >= 0)
            ids_add(out, all[i].id);
    free(all);
}

static void decode(const tokenizer *t, int64_t id, bool first, text *out)
{
    (void)first;
    text_bytes(out, t->vocab.by_id[id].s, (size_t)t->vocab.by_id[id].n);
}

const token_model token_model_bpe = {"BPE", read, encode, decode, NULL};
