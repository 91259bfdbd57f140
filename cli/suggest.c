/* suggest.c - edit distance over a handful of short words. */
#include "cli/suggest.h"

#include "graph/base/base.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 63, FAR = 1000 }; /* letters of a word; the distance of what is too long to compare */

int suggest_distance(const char *a, const char *b)
{
    size_t na = strlen(a), nb = strlen(b);
    if (na > LONGEST || nb > LONGEST)
        return FAR;
    int rows[3][LONGEST + 1]; /* the rows i-2, i-1 and i of the table of distances between prefixes */
    int *before = rows[0], *above = rows[1], *here = rows[2];
    for (size_t j = 0; j <= nb; j++)
        above[j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        here[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            int d = above[j - 1] + (a[i - 1] != b[j - 1]);
            d = (int)int_min(d, int_min(above[j], here[j - 1]) + 1);
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            here[j] = swapped ? (int)int_min(d, before[j - 2] + 1) : d;
        }
        int *free_row = before;
        before = above, above = here, here = free_row;
    }
    return above[nb];
}

suggestion suggest_begin(const char *word)
{
    return (suggestion){.word = word, .distance = FAR};
}

void suggest_offer(suggestion *s, const char *candidate)
{
    int d = suggest_distance(s->word, candidate);
    if (d < s->distance)
        s->n = 0, s->distance = d;
    if (d == s->distance && s->n < SUGGEST_MAX)
        s->nearest[s->n++] = candidate;
}

bool suggest_hint(const suggestion *s, const char *prefix, ts_error *e)
{
    /* One edit is always a typing slip; beyond that a third of a word may be wrong, and never more than three letters,
     * before a guess stops helping. */
    int allowed = (int)int_min((int64_t)(strlen(s->word) / 3), 3);
    if (s->n == 0 || s->distance > (allowed > 1 ? allowed : 1))
        return false;
    char list[256] = "";
    size_t n = 0;
    for (int i = 0; i < s->n; i++) {
        const char *join = i == 0 ? "" : i + 1 < s->n ? ", " : " or ";
        int more = snprintf(list + n, sizeof list - n, "%s%s%s", join, prefix, s->nearest[i]);
        if (more < 0 || n + (size_t)more >= sizeof list)
            break;
        n += (size_t)more;
    }
    err_hint(e, "did you mean %s?", list);
    return true;
}
