/* words.c - texts cut into words, and which of what matches and what does not become words. */
#include "import/text/vocab.h"

#include <stdlib.h>

void words_end(words *w, size_t at)
{
    w->all = heap_grown(w->all, w->n, &w->cap, sizeof *w->all);
    w->all[w->n++] = (word){at, w->text.length - at};
}

void words_put(words *w, const char *s, size_t n)
{
    const size_t at = w->text.length;
    text_bytes(&w->text, s, n);
    words_end(w, at);
}

void words_cut(words *w, size_t at, size_t n)
{
    if (!n)
        return;
    w->all = heap_grown(w->all, w->n, &w->cap, sizeof *w->all);
    w->all[w->n++] = (word){at, n};
}

piece words_at(const words *w, int i)
{
    return (piece){.s = text_str(&w->text) + w->all[i].at, .n = w->all[i].n};
}

void words_free(words *w)
{
    text_free(&w->text);
    free(w->all);
    *w = (words){0};
}

/* ---- spans ---- */
static void add(spans *s, span one)
{
    s->at = heap_grown(s->at, s->n, &s->cap, sizeof *s->at);
    s->at[s->n++] = one;
    s->told = one.end;
}

void spans_match(spans *s, size_t begin, size_t end)
{
    if (s->told < begin)
        add(s, (span){s->told, begin, false});
    add(s, (span){begin, end, true});
}

/* Whether a span is joined to the word so far; *was: whether the one taken before it matched. */
static bool joins(behavior how, bool match, bool *was)
{
    const bool before = *was;
    *was = match;
    return how == CONTIGUOUS ? match == before : how >= MERGED_WITH_PREVIOUS && match && !before;
}

void spans_take(spans *s, behavior how, words *w, size_t at, size_t n)
{
    if (s->told < n)
        add(s, (span){s->told, n, false});
    const int step = how == MERGED_WITH_NEXT ? -1 : 1; /* that one from behind, and in order again */
    bool was = false;
    int k = 0; /* spans so far, at the front or, from behind, at the end */
    for (int i = 0; i < s->n; i++) {
        const span one = s->at[step > 0 ? i : s->n - 1 - i];
        if (joins(how, one.match, &was) && k > 0) {
            span *last = &s->at[step > 0 ? k - 1 : s->n - k];
            *last = (span){step > 0 ? last->begin : one.begin, step > 0 ? one.end : last->end, false};
        } else
            s->at[step > 0 ? k : s->n - 1 - k] = (span){one.begin, one.end, how == REMOVED && one.match}, k++;
    }
    for (int i = step > 0 ? 0 : s->n - k, stop = step > 0 ? k : s->n; i < stop; i++)
        if (!s->at[i].match)
            words_cut(w, at + s->at[i].begin, s->at[i].end - s->at[i].begin);
    free(s->at);
    *s = (spans){0};
}
