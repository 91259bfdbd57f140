/* vocab.c - tokens by their bytes and by their number; lists of numbers. */
#include "import/text/vocab.h"

#include <stdio.h>
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

bool vocab_name(vocab *v, const char *s, size_t n, int64_t id)
{
    MUST(id >= 0 && id < MOST_TOKENS && n <= MOST_TOKEN_BYTES);
    if (id >= v->cap)
        grow_ids(v, id + 1);
    token *t = &v->by_id[id];
    if (t->s)
        return (size_t)t->n == n && !memcmp(t->s, s, n);
    *t = (token){.s = s, .n = (int)n};
    v->n = id >= v->n ? id + 1 : v->n;
    return true;
}

bool vocab_add(vocab *v, const char *s, size_t n, int64_t id)
{
    if (2 * (v->used + 1) > v->n_slot)
        grow_slots(v);
    const size_t i = find_slot(v, s, n);
    if (v->slot[i] || !vocab_name(v, s, n, id))
        return v->slot[i] == id + 1;
    v->slot[i] = id + 1;
    v->used++;
    return true;
}

int64_t vocab_find(const vocab *v, const char *s, size_t n)
{
    return v->n_slot ? v->slot[find_slot(v, s, n)] - 1 : -1;
}

void vocab_byte_tokens(const vocab *v, int64_t id[256])
{
    for (int i = 0; i < 256; i++) {
        char name[8];
        snprintf(name, sizeof name, "<0x%02X>", (unsigned)i & 0xFF);
        id[i] = vocab_find(v, name, 6);
    }
}

void vocab_free(vocab *v)
{
    free(v->by_id), free(v->slot);
    *v = (vocab){0};
}
