/* vocab.c - tokens by their bytes and by their number; lists of numbers; cut texts. */
#include "import/text/tokenizer.h"

#include <stdlib.h>
#include <string.h>

void ids_add(ids *l, int64_t id)
{
    if (l->n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 32;
        l->at = reallocarray(l->at, (size_t)l->cap, sizeof *l->at);
        MUST(l->at);
    }
    l->at[l->n++] = id;
}

void ids_free(ids *l)
{
    free(l->at);
    *l = (ids){0};
}

void words_cut(words *w, size_t at, size_t n)
{
    if (!n)
        return;
    w->all = heap_grown(w->all, w->n, &w->cap, sizeof *w->all);
    w->all[w->n++] = (word){at, n};
}

void words_free(words *w)
{
    text_free(&w->text);
    free(w->all);
    *w = (words){0};
}

static size_t find_slot(const vocab *v, const char *s, size_t n)
{
    size_t i = quick_hash(s, n, 0) & (v->n_slot - 1);
    for (; v->slot[i]; i = (i + 1) & (v->n_slot - 1)) {
        const token *t = &v->by_id[v->slot[i] - 1];
        if ((size_t)t->n == n && !memcmp(t->s, s, n))
            break;
    }
    return i;
}

static void grow_slots(vocab *v)
{
    free(v->slot);
    v->n_slot = v->n_slot ? 2 * v->n_slot : 1024;
    v->slot = heap_array(v->n_slot, sizeof *v->slot);
    for (int64_t i = 0; i < v->n; i++)
        if (v->by_id[i].s)
            v->slot[find_slot(v, v->by_id[i].s, (size_t)v->by_id[i].n)] = i + 1;
}

static void grow_ids(vocab *v, int64_t need)
{
    const int64_t old = v->cap;
    while (v->cap < need)
        v->cap = v->cap ? 2 * v->cap : 1024;
    v->by_id = reallocarray(v->by_id, (size_t)v->cap, sizeof *v->by_id);
    MUST(v->by_id);
    memset(v->by_id + old, 0, (size_t)(v->cap - old) * sizeof *v->by_id);
}

bool vocab_add(vocab *v, const char *s, size_t n, int64_t id)
{
    MUST(id >= 0 && id < MOST_TOKENS && n <= MOST_TOKEN_BYTES);
    if (id >= v->cap)
        grow_ids(v, id + 1);
    if (2 * (v->used + 1) > v->n_slot)
        grow_slots(v);
    const size_t i = find_slot(v, s, n);
    if (v->slot[i])
        return v->slot[i] == id + 1;
    if (v->by_id[id].s)
        return false;
    v->by_id[id] = (token){s, (int)n};
    v->slot[i] = id + 1;
    v->used++;
    v->n = id >= v->n ? id + 1 : v->n;
    return true;
}

int64_t vocab_find(const vocab *v, const char *s, size_t n)
{
    return v->n_slot ? v->slot[find_slot(v, s, n)] - 1 : -1;
}

void vocab_free(vocab *v)
{
    free(v->by_id), free(v->slot);
    *v = (vocab){0};
}
