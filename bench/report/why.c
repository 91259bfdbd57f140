/* Section 4: why? Reasons, the two nests side by side with what differs marked, and whether each rule's tiles fit
 * the caches. */
#include "bench/report/page.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* pairs of nests; loops of one; rules; levels of memory */
enum { MAX_NESTS = 4, MAX_TOKENS = 48, MAX_RULES = 14, MAX_LEVELS = 6 };

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

/* v: loops, and others that they are held against */
void draw_nest(text *t, const report *r, const cJSON *v)
{
    const tokens a = split(js_get_text(v, "loops")), b = split(js_get_text(v, "other"));
    bool marked[MAX_TOKENS] = {0};
    differing(&a, &b, marked);
    (void)r;
    for (int i = 0; i < a.n; i++) {
        ENDED_BY(heap_free) char *token = strndup(a.of[i].s, (size_t)a.of[i].length);
        text_add(t, i ? " %s" : "%s", marked[i] ? "<mark>" : "");
        html_add(t, "%s%-s", token, marked[i] ? "</mark>" : "");
    }
}

static void fill_nest(cJSON *list, const report *r, int c, const kernel *k, const kernel *other)
{
    cJSON *o = js_object(list, NULL);
    view_who(o, "who", r, c, NULL);
    view_text(o, "loops", k->loops), view_text(o, "other", other->loops);
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

/* The loops of the pair where they differ, and those of others, held against the fastest. */
static void fill_nests(cJSON *o, const report *r)
{
    cJSON *list = js_array(o, "nests");
    for (int i = 0, n = 0; r->fast >= 0 && i < r->groups.differing && n < MAX_NESTS; i++) {
        const kernel *a = r->groups.of[i].fast_kernel, *b = r->groups.of[i].slow_kernel;
        if (!a || !b || !*a->loops || !*b->loops || !strcmp(a->loops, b->loops))
            continue;
        cJSON *one = js_object(list, NULL), *of = js_array(one, "of");
        view_text(one, "name", r->groups.of[i].name);
        fill_nest(of, r, r->fast, a, b);
        fill_nest(of, r, r->slow, b, a);
        n++;
        for (int c = 0; c < r->charted; c++) {
            const kernel *k = c == r->fast || c == r->slow || r->of[c].peer ? NULL
                                                                            : heaviest_in(r, c, r->groups.of[i].name);
            if (k && *k->loops)
                fill_nest(of, r, c, k, a);
        }
    }
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

static void fill_cell(cJSON *list, const report *r, int c, const kernel *k, const char *name)
{
    const level *l = k ? level_fullest(k, name) : NULL;
    cJSON *o = js_object(list, NULL);
    if (!l)
        return;
    js_put(o, "class:%s,over:%i,wide:%g,fill_share:%g,loop_bytes:%g", mark_class(r, c), l->share > 1,
           l->share > 1 ? 100 : l->share * 100, l->share, l->bytes);
    view_text(o, "loop", l->loop);
}

static void fill_fit(cJSON *o, const report *r)
{
    const char *names[MAX_LEVELS];
    const int n = level_names(r, names);
    cJSON *levels = js_array(o, "levels"), *fit = js_array(o, "fit");
    for (int i = 0; i < n; i++)
        view_text(levels, NULL, names[i]);
    for (int i = 0, rows = 0; n && i < r->groups.n && rows < MAX_RULES; i++) {
        const group *g = &r->groups.of[i];
        if (!(g->fast_kernel && g->fast_kernel->n_level) && !(g->slow_kernel && g->slow_kernel->n_level))
            continue;
        cJSON *row = js_object(fit, NULL), *cells = js_array(row, "cells");
        view_text(row, "name", g->name);
        for (int l = 0; l < n; l++) {
            fill_cell(cells, r, r->best, g->fast_kernel, names[l]);
            if (r->slow >= 0)
                fill_cell(cells, r, r->slow, g->slow_kernel, names[l]);
        }
        rows++;
    }
    js_number(o, "more", r->groups.n - MAX_RULES);
}

const char *fill_why(cJSON *o, const report *r)
{
    if (r->best < 0)
        return "no candidate is valid";
    if (!r->of[r->best].n_kernel)
        return "the results hold no kernels";
    view_reasons(o, r, INT_MAX);
    fill_made_of(o, r);
    fill_nests(o, r);
    fill_roofline(o, r);
    fill_fit(o, r);
    return NULL;
}
