/* suggest.c - edit distance over a handful of short words. */
#include "graph/base/suggest.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST = 63, FAR = 1000 }; /* letters of a word; the distance of what is too long to compare */

static int replaced(char a, char b)
{
    return a == b ? 0 : tolower((unsigned char)a) == tolower((unsigned char)b) ? EDIT / 2 : EDIT;
}

int suggest_distance(const char *a, const char *b)
{
    const size_t na = strlen(a), nb = strlen(b);
    if (na > LONGEST || nb > LONGEST)
        return FAR;
    int rows[3][LONGEST + 1]; /* the rows i-2, i-1 and i of the table of distances between prefixes */
    int *before = rows[0], *above = rows[1], *here = rows[2];
    for (size_t j = 0; j <= nb; j++)
        above[j] = (int)j * EDIT;
    for (size_t i = 1; i <= na; i++) {
        here[0] = (int)i * EDIT;
        for (size_t j = 1; j <= nb; j++) {
            const int d = above[j - 1] + replaced(a[i - 1], b[j - 1]);
            here[j] = (int)int_min(d, int_min(above[j], here[j - 1]) + EDIT);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                here[j] = (int)int_min(here[j], before[j - 2] + EDIT);
        }
        int *free_row = before;
        before = above, above = here, here = free_row;
    }
    return above[nb];
}

void suggest_offer(suggestion *k, const char *name)
{
    text_add(&k->all, "%s%s", k->all.length ? ", " : "", name);
    const int d = suggest_distance(k->word, name);
    if (!k->n || d < k->distance)
        k->n = 0, k->distance = d;
    if (d == k->distance && k->n < SUGGEST_MAX)
        k->nearest[k->n++] = name;
}

bool suggest_near(const suggestion *k, const char *prefix, err *e)
{
    /* One edit is always a typing slip; beyond that a third of a word may be wrong, and never more than three letters,
     * before a guess stops helping. */
    const int64_t allowed = int_max(1, int_min((int64_t)strlen(k->word) / 3, 3));
    if (!k->n || !*k->word || k->distance > allowed * EDIT)
        return false;
    ENDED_BY(text_free) text list = {0};
    for (int i = 0; i < k->n; i++)
        text_add(&list, "%s%s%s", i == 0 ? "" : i + 1 < k->n ? ", " : " or ", prefix, k->nearest[i]);
    err_hint(e, "did you mean %s?", text_str(&list));
    return true;
}

bool suggest_hint(const suggestion *k, const char *lead, err *e)
{
    suggest_near(k, "", e);
    return k->all.length && err_hint(e, "%s %s", lead, text_str(&k->all));
}

void suggest_free(suggestion *k)
{
    text_free(&k->all);
}
