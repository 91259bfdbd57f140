/* added.c - added tokens: found in a text as they are, the longest at each place, from left to right. Some are found in
 * the text as it is given, others behind the normalizer, which makes of them what it makes of the text. */
#include "import/text/tokenizer.h"
#include "import/text/unicode.h"

#include <limits.h>
#include <string.h>

void tokenizer_add(tokenizer *t, added s)
{
    if (s.id < 0)
        return;
    t->added = arena_grown(&t->mem, t->added, t->n_added, &t->cap_added, sizeof *t->added);
    t->added[t->n_added++] = s;
    if (s.id < t->vocab.n)
        t->vocab.by_id[s.id].hidden |= s.hidden;
}

int64_t tokenizer_id(const tokenizer *t, const char *name)
{
    int64_t id = vocab_find(&t->vocab, name, strlen(name));
    for (int i = 0; i < t->n_added && id < 0; i++)
        id = strcmp(t->added[i].s, name) ? -1 : t->added[i].id;
    return id;
}

static void gather(tokenizer *t, lexicon *l, bool normalized)
{
    l->at = arena_array(&t->mem, (size_t)t->n_added + 1, sizeof *l->at);
    for (int i = 0; i < t->n_added; i++) {
        const added *a = &t->added[i];
        if (a->normalized != normalized)
            continue;
        ENDED_BY(text_free) text as = {0};
        if (normalized)
            tokenizer_normal(t, a->s, a->n, &as);
        else
            text_bytes(&as, a->s, a->n);
        MUST(as.length <= INT_MAX);
        char *s = arena_get(&t->mem, as.length + 1);
        memcpy(s, text_str(&as), as.length);
        if (normalized) /* it is printed so, too */
            t->vocab.by_id[a->id].s = s, t->vocab.by_id[a->id].n = (int)as.length;
        if (as.length)
            l->at[l->n++] = (lexicon_entry){s, as.length, i};
    }
    lexicon_sort(l);
}

void tokenizer_ready(tokenizer *t)
{
    gather(t, &t->raw, false), gather(t, &t->normalized, true);
}

/* The longest entry at s; -1: none. */
static int64_t longest(const lexicon *l, const char *s, size_t n, size_t *bytes)
{
    int64_t best = -1, id;
    lexicon_walk w = lexicon_begin(l);
    for (size_t i = 0; i < n && lexicon_next(l, &w, (unsigned char)s[i], &id); i++)
        if (id >= 0)
            best = id, *bytes = i + 1;
    return best;
}

static bool in_words(piece in, size_t begin, size_t end)
{
    uint32_t before = ' ', behind = ' ';
    if (begin > 0) {
        const size_t k = unicode_back(in.s, 0, begin);
        unicode_next(in.s + k, begin - k, &before);
    }
    if (end < in.n)
        unicode_next(in.s + end, in.n - end, &behind);
    return unicode_is_word(before) || unicode_is_word(behind);
}

static size_t blanks_before(piece in, size_t from, size_t i)
{
    for (size_t k; i > from; i = k) {
        uint32_t c;
        k = unicode_back(in.s, from, i);
        unicode_next(in.s + k, i - k, &c);
        if (!unicode_is_space(c))
            break;
    }
    return i;
}

static size_t blanks_behind(piece in, size_t i)
{
    for (size_t step; i < in.n; i += step) {
        uint32_t c;
        step = unicode_next(in.s + i, in.n - i, &c);
        if (!unicode_is_space(c))
            break;
    }
    return i;
}

const added *added_next(const tokenizer *t, added_scan *scan, size_t *begin, size_t *end)
{
    const piece in = scan->in;
    while (scan->at < in.n) {
        size_t n = 0;
        const bool may = scan->set->first[(unsigned char)in.s[scan->at]];
        const int64_t found = may ? longest(scan->set, in.s + scan->at, in.n - scan->at, &n) : -1;
        if (found < 0) {
            scan->at++;
            continue;
        }
        const added *a = &t->added[found];
        *begin = scan->at, *end = scan->at += n;
        if (a->alone && in_words(in, *begin, *end))
            continue;
        if (a->left)
            *begin = blanks_before(in, scan->from, *begin);
        if (a->right)
            *end = blanks_behind(in, *end);
        scan->from = *end;
        return a;
    }
    return NULL;
}
