/* nearest.c - the parameters that were meant by a glob which matches none. */
#include "train/net.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 512, NAMED = 3 }; /* bytes of a name; names that a message lists */

/* Letters to change, leave out or put in until the glob matches the name, at most: what * stands for costs nothing. */
static int distance(const char *glob, const char *name)
{
    int row[LONGEST];
    const int n = (int)strnlen(name, LONGEST - 1);
    for (int j = 0; j <= n; j++)
        row[j] = j;
    for (const char *c = glob; *c; c++) {
        const bool any = *c == '*';
        int diagonal = row[0];
        row[0] += !any;
        for (int j = 1; j <= n; j++) {
            const int up = row[j] + !any, left = row[j - 1] + !any;
            const int change = diagonal + (!any && *c != '?' && *c != name[j - 1]);
            diagonal = row[j];
            row[j] = change < up ? change : up;
            row[j] = row[j] < left ? row[j] : left;
        }
    }
    return row[n];
}

void names_nearest(const char *glob, int n, const ts_tensor *all, char out[NEAREST_TEXT])
{
    const char *near[NAMED];
    int best = LONGEST, k = 0;
    for (int i = 0; i < n; i++) {
        const int d = distance(glob, ts_name(all[i]));
        if (!*ts_name(all[i]) || d > best || (d == best && k == NAMED))
            continue;
        k = d < best ? 0 : k;
        best = d, near[k++] = ts_name(all[i]);
    }
    snprintf(out, NEAREST_TEXT, "%s", k > 1 ? "the nearest are " : k ? "the nearest is " : "there are no names");
    for (int i = 0; i < k; i++) {
        const size_t used = strlen(out);
        snprintf(out + used, NEAREST_TEXT - used, "%s%s", i ? ", " : "", near[i]);
    }
}
