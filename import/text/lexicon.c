/* lexicon.c - sorted strings: what begins with the same bytes stands together, and one more byte narrows that. */
#include "import/text/vocab.h"

#include <stdlib.h>
#include <string.h>

static int by_bytes(const void *a, const void *b)
{
    const lexicon_entry *x = a, *y = b;
    const int order = memcmp(x->s, y->s, x->n < y->n ? x->n : y->n);
    return order ? order : x->n != y->n ? (x->n > y->n) - (x->n < y->n) : (x->id > y->id) - (x->id < y->id);
}

void lexicon_sort(lexicon *l)
{
    if (l->n)
        qsort(l->at, (size_t)l->n, sizeof *l->at, by_bytes);
    for (int64_t i = 0; i < l->n; i++)
        if (l->at[i].n)
            l->first[(unsigned char)*l->at[i].s] = true;
}

lexicon_walk lexicon_begin(const lexicon *l)
{
    return (lexicon_walk){.high = l->n};
}

/* The first entry of [low, high), which are longer than the walk is deep, whose next byte is at least c. */
static int64_t first_from(const lexicon *l, const lexicon_walk *w, int c)
{
    int64_t low = w->low, high = w->high;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if ((unsigned char)l->at[middle].s[w->depth] < c)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool lexicon_next(const lexicon *l, lexicon_walk *w, unsigned char c, int64_t *id)
{
    *id = -1;
    while (w->low < w->high && l->at[w->low].n == w->depth)
        w->low++;
    w->low = first_from(l, w, c), w->high = first_from(l, w, c + 1);
    w->depth++;
    if (w->low < w->high && l->at[w->low].n == w->depth)
        *id = l->at[w->low].id;
    return w->low < w->high;
}
