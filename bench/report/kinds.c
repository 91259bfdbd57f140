/* Twelve layers are one thing twelve times: kernels whose names differ only in numbers standing alone (layer.0.query,
 * layer.1.query) and that have the same op and flops are one kind. It is by kinds that candidates are compared. */
#include "bench/report/data.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct row {
    const char *pattern;
    kernel *k;
    int owner, index;
} row;

/* A number stands alone between these; the 2 of "conv2d" does not. */
static bool edge(char c)
{
    return !c || strchr("./_-:[] ", c);
}

/* "layer.11.ffn1" -> "layer.*.ffn1" */
static const char *pattern_of(report *r, const char *name)
{
    size_t n = strlen(name), at = 0;
    char *out = arena_array(&r->mem, n + 2, 1);
    for (size_t i = 0; i < n;) {
        size_t end = i;
        while (isdigit((unsigned char)name[end]))
            end++;
        if (end > i && (i == 0 || edge(name[i - 1])) && edge(name[end])) {
            out[at++] = '*';
            i = end;
        } else {
            out[at++] = name[i++];
        }
    }
    return out;
}

/* NaN equals nothing, not even itself, and would break an order. */
static double known(double v)
{
    return isnan(v) ? -1 : v;
}

/* 0: they are; else which comes first. */
static int same_kind(const row *a, const row *b)
{
    int by_name = strcmp(a->pattern, b->pattern), by_op = strcmp(a->k->op, b->k->op);
    double fa = known(a->k->work), fb = known(b->k->work);
    return by_name ? by_name : by_op ? by_op : (fa > fb) - (fa < fb);
}

/* Within a kind by candidate, then as in its plan. */
static int by_kind(const void *x, const void *y)
{
    const row *a = x, *b = y;
    int order = same_kind(a, b);
    if (order)
        return order;
    return a->owner != b->owner ? a->owner - b->owner : a->index - b->index;
}

/* peak_share is a sum weighted by time here, a mean once all are in. */
static void part_add(part *t, kernel *k, bool again)
{
    double ns = k->ns > 0 ? k->ns : 0;
    if (!t->heaviest || ns > t->heaviest->ns)
        t->heaviest = k;
    t->by = t->heaviest->by;
    t->peak_share += ns * k->peak_share;
    t->ns += ns;
    t->bytes += k->bytes;
    t->count += !again;
}

/* Of the candidate that spends most on it. */
static double heaviest_time(const kind *k)
{
    double most = 0;
    for (int c = 0; c < MAX_CHARTED; c++)
        if (k->of[c].ns > most)
            most = k->of[c].ns;
    return most;
}

static int by_time(const void *x, const void *y)
{
    const kind *a = x, *b = y;
    double ta = heaviest_time(a), tb = heaviest_time(b);
    if (ta != tb)
        return ta < tb ? 1 : -1;
    int by_name = strcmp(a->name, b->name), by_op = strcmp(a->op, b->op);
    return by_name ? by_name
           : by_op ? by_op
                   : (known(a->flops) > known(b->flops)) - (known(a->flops) < known(b->flops));
}

/* The one that takes most, or gains most, first; of equal ones as they stand in the report. */
static int by_rank(const void *x, const void *y)
{
    const ranked *a = x, *b = y;
    const double ta = fabs(a->ns), tb = fabs(b->ns);
    return ta != tb ? (ta < tb ? 1 : -1) : (a->k > b->k) - (a->k < b->k);
}

ranked *kinds_ranked(const report *r, int c, int less)
{
    ranked *of = heap_array((size_t)r->n_kind + 1, sizeof *of);
    for (int i = 0; i < r->n_kind; i++)
        of[i] = (ranked){&r->kinds[i], r->kinds[i].of[c].ns - (less < 0 ? 0 : r->kinds[i].of[less].ns)};
    qsort(of, (size_t)r->n_kind, sizeof *of, by_rank);
    return of;
}

/* rows are sorted: one kind after the other */
static void kinds_fill(report *r, const row *rows, int n)
{
    for (int i = 0; i < n; i++) {
        bool first = i == 0 || same_kind(&rows[i - 1], &rows[i]) != 0;
        if (first)
            r->kinds[r->n_kind++] = (kind){.name = rows[i].k->name, .op = rows[i].k->op, .flops = rows[i].k->work};
        kind *now = &r->kinds[r->n_kind - 1];
        if (strcmp(now->name, rows[i].k->name) != 0)
            now->name = rows[i].pattern;
        /* kernels of one way to one thing follow one another in a plan, by its name */
        const bool again = !first && *rows[i].k->by && rows[i - 1].owner == rows[i].owner &&
                           strcmp(rows[i - 1].k->by, rows[i].k->by) == 0 &&
                           strcmp(rows[i - 1].k->name, rows[i].k->name) == 0;
        part_add(&now->of[rows[i].owner], rows[i].k, again);
    }
    for (int i = 0; i < r->n_kind; i++)
        for (int c = 0; c < MAX_CHARTED; c++) {
            part *t = &r->kinds[i].of[c];
            t->peak_share = t->ns > 0 ? t->peak_share / t->ns : (double)NAN;
        }
    qsort(r->kinds, (size_t)r->n_kind, sizeof(kind), by_time);
}

/* ---- the pair by rule or op ---- */

static const part nothing = {0};

/* A pair, or the best alone against nothing. */
static const part *fast_part(const report *r, const kind *k)
{
    return &k->of[r->best];
}

static const part *slow_part(const report *r, const kind *k)
{
    return r->slow >= 0 ? &k->of[r->slow] : &nothing;
}

static const char *rule_of(const report *r, const kind *k)
{
    const kernel *a = fast_part(r, k)->heaviest, *b = slow_part(r, k)->heaviest;
    if (r->slow < 0)
        return a->rule;
    return a && b && !strcmp(a->rule, b->rule) ? a->rule : "";
}

/* From both of the pair. */
static bool absent(const report *r, const kind *k)
{
    return !fast_part(r, k)->heaviest && !slow_part(r, k)->heaviest;
}

/* Rules say more than ops, if both schemas name them alike and there are several. */
static bool rules_agree(const report *r)
{
    const char *first = NULL;
    bool several = false;
    for (int i = 0; i < r->n_kind; i++) {
        if (absent(r, &r->kinds[i]))
            continue;
        const char *rule = rule_of(r, &r->kinds[i]);
        if (!*rule)
            return false;
        if (!first)
            first = rule;
        several |= strcmp(first, rule) != 0;
    }
    return several;
}

static int by_group_name(const void *x, const void *y)
{
    const group *a = x, *b = y;
    return a->same != b->same ? a->same - b->same : strcmp(a->name, b->name);
}

/* Those that do the same go last, whatever their times. */
static int by_difference(const void *x, const void *y)
{
    const group *a = x, *b = y;
    double da = fabs(a->slow - a->fast), db = fabs(b->slow - b->fast);
    if (a->same != b->same)
        return a->same - b->same;
    return da != db ? (da < db ? 1 : -1) : by_group_name(x, y);
}

static const kernel *heavier(const kernel *a, const kernel *b)
{
    return !a || (b && b->ns > a->ns) ? b : a;
}

/* Equal names lie beside each other. */
static int groups_merge(group *of, int n)
{
    int merged = 0;
    for (int i = 0; i < n; i++) {
        if (!merged || by_group_name(&of[merged - 1], &of[i]) != 0) {
            of[merged++] = of[i];
            continue;
        }
        group *g = &of[merged - 1];
        g->fast += of[i].fast;
        g->slow += of[i].slow;
        g->fast_kernel = heavier(g->fast_kernel, of[i].fast_kernel);
        g->slow_kernel = heavier(g->slow_kernel, of[i].slow_kernel);
    }
    return merged;
}

bool kind_ways_differ(const report *r, const kind *k)
{
    const part *a = &k->of[r->fast], *b = &k->of[r->slow];
    return a->heaviest && b->heaviest && strcmp(a->by, b->by) != 0;
}

/* The same loops in the same layouts, as often: time that differs is noise, or where things came to lie in memory. */
static void same_find(report *r)
{
    for (int i = 0; i < r->n_kind && r->slow >= 0; i++) {
        const part *a = fast_part(r, &r->kinds[i]), *b = slow_part(r, &r->kinds[i]);
        r->kinds[i].same = a->heaviest && b->heaviest && a->count == b->count && kernel_same(a->heaviest, b->heaviest);
    }
}

static void groups_make(report *r)
{
    bool rules = rules_agree(r);
    groups g = {.by = rules ? "rule" : "op", .of = arena_array(&r->mem, (size_t)r->n_kind, sizeof *g.of)};
    for (int i = 0; i < r->n_kind; i++) {
        const kind *k = &r->kinds[i];
        const part *a = fast_part(r, k), *b = slow_part(r, k);
        if (absent(r, k))
            continue;
        g.of[g.n] = (group){rules ? rule_of(r, k) : k->op, k->same, a->ns, b->ns, a->heaviest, b->heaviest};
        g.n_same += k->same ? a->count : 0;
        g.n++;
    }
    qsort(g.of, (size_t)g.n, sizeof *g.of, by_group_name);
    g.n = groups_merge(g.of, g.n);
    qsort(g.of, (size_t)g.n, sizeof *g.of, by_difference);
    for (int i = 0; i < g.n; i++) {
        g.differing += !g.of[i].same;
        g.fast_same += g.of[i].same ? g.of[i].fast : 0;
        g.slow_same += g.of[i].same ? g.of[i].slow : 0;
    }
    r->groups = g;
}

/* Numbers of a name are no place to compare by: two schemas may merge layers differently. */
void report_kinds(report *r)
{
    size_t total = 0;
    int n = 0;
    for (int c = 0; c < r->charted; c++)
        total += (size_t)r->of[c].n_kernel;
    if (!total)
        return;
    row *rows = arena_array(&r->mem, total, sizeof *rows);
    r->kinds = arena_array(&r->mem, total, sizeof *r->kinds);
    for (int c = 0; c < r->charted; c++)
        for (int i = 0; i < r->of[c].n_kernel; i++) {
            kernel *k = &r->of[c].kernels[i];
            rows[n++] = (row){pattern_of(r, k->name), k, c, i};
        }
    qsort(rows, (size_t)n, sizeof *rows, by_kind);
    kinds_fill(r, rows, n);
    if (r->best < 0)
        return;
    same_find(r);
    groups_make(r);
}
