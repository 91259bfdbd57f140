/* Section 4: why? Reasons, the two nests side by side with what differs marked, and whether each rule's tiles fit
 * the caches. */
#include "bench/report/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* pairs of nests; loops of one; rules; levels of memory */
enum { MAX_NESTS = 4, MAX_TOKENS = 48, MAX_RULES = 14, MAX_LEVELS = 6 };

static void reasons(text *t, const report *r)
{
    reason found[MAX_REASONS];
    int n = reasons_find(r, found);
    html_add(t, n ? "<ul.reasons>\n" : "<p.missing>No rule finds a reason in these numbers.</p>\n");
    for (int i = 0; i < n; i++) {
        html_add(t, "<li.reason>%-s</li>\n", text_str(&found[i].html));
        text_free(&found[i].html);
    }
    if (n)
        html_add(t, "</ul>\n");
}

/* ---- nests, with the loops that differ marked ---- */

typedef struct tokens {
    int n;
    struct {
        const char *s;
        int length;
    } of[MAX_TOKENS];
} tokens;

static tokens split(const char *s)
{
    tokens found = {0};
    while (*s && found.n < MAX_TOKENS) {
        s += strspn(s, " \n\t");
        int length = (int)strcspn(s, " \n\t");
        if (found.n == MAX_TOKENS - 1)
            length = (int)strlen(s); /* the rest as one */
        if (!length)
            break;
        found.of[found.n].s = s;
        found.of[found.n++].length = length;
        s += length;
    }
    return found;
}

static bool equal(const tokens *a, int i, const tokens *b, int j)
{
    return a->of[i].length == b->of[j].length && !memcmp(a->of[i].s, b->of[j].s, (size_t)a->of[i].length);
}

/* Marks what is not in the longest common subsequence. */
static void differing(const tokens *a, const tokens *b, bool *marked)
{
    static const int none = 0;
    int best[MAX_TOKENS + 1][MAX_TOKENS + 1];
    memset(best, none, sizeof best);
    for (int i = a->n - 1; i >= 0; i--)
        for (int j = b->n - 1; j >= 0; j--) {
            int skip = best[i + 1][j] > best[i][j + 1] ? best[i + 1][j] : best[i][j + 1];
            best[i][j] = equal(a, i, b, j) ? best[i + 1][j + 1] + 1 : skip;
        }
    for (int i = 0, j = 0; i < a->n;) {
        if (j < b->n && equal(a, i, b, j))
            marked[i++] = false, j++;
        else if (j < b->n && best[i][j + 1] >= best[i + 1][j])
            j++;
        else
            marked[i++] = true;
    }
}

static void nest(text *t, const report *r, int c, const char *loops, const char *other)
{
    tokens a = split(loops), b = split(other);
    bool marked[MAX_TOKENS] = {0};
    differing(&a, &b, marked);
    html_add(t, "<tr><td>%-s</td><td><span.code>", r->of[c].mark);
    for (int i = 0; i < a.n; i++) {
        char *token = strndup(a.of[i].s, (size_t)a.of[i].length);
        text_add(t, i ? " %s" : "%s", marked[i] ? "<mark>" : "");
        html_add(t, "%s%-s", token, marked[i] ? "</mark>" : "");
        free(token);
    }
    html_add(t, "</span></td></tr>\n");
}

/* The heaviest kernel of a group, of any contestant. */
static const kernel *heaviest_in(const report *r, int c, const char *name)
{
    const kernel *most = NULL;
    const bool by_rule = strcmp(r->groups.by, "rule") == 0;
    for (int i = 0; i < r->of[c].n_kernel; i++) {
        const kernel *k = &r->of[c].kernels[i];
        if (strcmp(by_rule ? k->rule : k->op, name) == 0 && (!most || k->ns > most->ns))
            most = k;
    }
    return most;
}

/* Of those beside the pair, held against the fastest. */
static void other_nests(text *t, const report *r, const group *g)
{
    for (int c = 0; c < r->charted; c++) {
        const kernel *k = c == r->fast || c == r->slow || r->of[c].peer ? NULL : heaviest_in(r, c, g->name);
        if (k && *k->loops)
            nest(t, r, c, k->loops, g->fast_kernel->loops);
    }
}

static void nests(text *t, const report *r)
{
    int shown = 0;
    for (int i = 0; i < r->groups.differing && shown < MAX_NESTS; i++) {
        const kernel *a = r->groups.of[i].fast_kernel, *b = r->groups.of[i].slow_kernel;
        if (!a || !b || !*a->loops || !*b->loops || !strcmp(a->loops, b->loops))
            continue;
        if (!shown++)
            html_add(t,
                     "<h3>What the schemas say differently</h3><p.lead>Loops from outside to inside, as the heaviest "
                     "kernel of each %s runs them; what is marked differs.</p><div.wide><table><tbody>\n",
                     r->groups.by);
        html_add(t, "<tr><th colspan=2><span.name>%1s</span></th></tr>\n", r->groups.of[i].name);
        nest(t, r, r->fast, a->loops, b->loops);
        nest(t, r, r->slow, b->loops, a->loops);
        other_nests(t, r, &r->groups.of[i]);
    }
    if (shown)
        sheet_close(t);
}

/* ---- cache fit: rules down, levels across ---- */

static int by_text(const void *x, const void *y)
{
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static int level_names(const report *r, const char *out[MAX_LEVELS])
{
    int n = 0;
    for (int i = 0; i < r->groups.n; i++)
        for (int side = 0; side < 2; side++) {
            const kernel *k = side ? r->groups.of[i].slow_kernel : r->groups.of[i].fast_kernel;
            for (int l = 0; k && l < k->n_level; l++) {
                bool known = !*k->levels[l].level || !(k->levels[l].share >= 0);
                for (int j = 0; j < n; j++)
                    known |= !strcmp(out[j], k->levels[l].level);
                if (!known && n < MAX_LEVELS)
                    out[n++] = k->levels[l].level;
            }
        }
    qsort(out, (size_t)n, sizeof *out, by_text);
    return n;
}

static void cell(text *t, const report *r, int c, const kernel *k, const char *name)
{
    const level *l = k ? level_fullest(k, name) : NULL;
    if (!l) {
        html_add(t, "<td><span.cell.soft>–</span></td>");
        return;
    }
    double wide = l->share > 1 ? 100 : l->share * 100;
    html_add(t, "<td><span class='cell %s%s' style=--w:%.0f%%><b>%s%s</b>%s<br><small.code>%s</small></span></td>",
             mark_class(r, c), l->share > 1 ? " over" : "", wide, word_share(l->share).s, l->share > 1 ? " ✗" : "",
             word_bytes(l->bytes).s, l->loop);
}

static void fit_head(text *t, const report *r, int n, const char *const *names)
{
    html_add(t, "<div.wide><table.fit><thead><tr><th rowspan=2>%s</th>", r->groups.by);
    for (int i = 0; i < n; i++)
        html_add(t, "<th colspan=%d>%s</th>", r->slow >= 0 ? 2 : 1, names[i]);
    html_add(t, "</tr><tr>");
    for (int i = 0; i < n; i++)
        html_add(t, r->slow >= 0 ? "<th>%-s</th><th>%-s</th>" : "<th>%-s</th>", r->of[r->best].mark,
                 r->slow >= 0 ? r->of[r->slow].mark : "");
    html_add(t, "</tr></thead><tbody>\n");
}

static void fit(text *t, const report *r)
{
    const char *names[MAX_LEVELS];
    int n = level_names(r, names), rows = 0;
    html_add(t, "<h3>Does it fit the caches?</h3>\n");
    if (!n) {
        html_add(t, "<p.missing>The results hold no working sets.</p>\n");
        return;
    }
    html_add(t,
             "<p.lead>What one trip of a loop works on, as a part of the cache level that is to hold it. Hatched with "
             "✗: more than fits, so data is fetched again. The loop is named below the size; the heaviest kernel of "
             "each %s is shown.</p>\n",
             r->groups.by);
    fit_head(t, r, n, names);
    for (int i = 0; i < r->groups.n && rows < MAX_RULES; i++) {
        const group *g = &r->groups.of[i];
        if (!(g->fast_kernel && g->fast_kernel->n_level) && !(g->slow_kernel && g->slow_kernel->n_level))
            continue;
        html_add(t, "<tr><td.rulename><b.name>%1s</b></td>", g->name);
        for (int l = 0; l < n; l++) {
            cell(t, r, r->best, g->fast_kernel, names[l]);
            if (r->slow >= 0)
                cell(t, r, r->slow, g->slow_kernel, names[l]);
        }
        html_add(t, "</tr>\n");
        rows++;
    }
    sheet_close(t);
    if (r->groups.n > MAX_RULES)
        html_add(t, "<p.soft>%d more are in the data.</p>\n", r->groups.n - MAX_RULES);
}

const char *part_why(text *t, const report *r)
{
    if (r->best < 0)
        return "no candidate is valid";
    if (!r->of[r->best].n_kernel)
        return "the results hold no kernels";
    reasons(t, r);
    made_of(t, r);
    if (r->fast >= 0)
        nests(t, r);
    roofline_figure(t, r);
    fit(t, r);
    return NULL;
}
