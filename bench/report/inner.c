/* What the innermost loops make of the machine, and what that is worth: the first reason of a report, and the table of
 * what the difference is made of. */
#include "bench/report/factors.h"
#include "bench/report/page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { IN_A_SENTENCE = 4 };       /* loops */
static const double SMALL = 0.02; /* of the difference: not worth a row */

/* ---- one property of a nest in words ---- */
typedef struct phrase {
    char s[96];
} phrase;

static phrase say(const kernel *k, property i, int near)
{
    phrase p = {"–"};
    const tile *of = &k->tile;
    switch (i) {
    case VECTORS:
        if (of->lanes == 1)
            snprintf(p.s, sizeof p.s, "scalar: 1 element at a time");
        else if (of->lanes > 1)
            snprintf(p.s, sizeof p.s, "vectors of %.0f", of->lanes);
        break;
    case SUMS:
        if (of->sums > 0)
            snprintf(p.s, sizeof p.s, "%.0f sum%s at once", of->sums, of->sums == 1 ? "" : "s");
        break;
    case LOADS:
        if (of->loads >= 0)
            snprintf(p.s, sizeof p.s, "%s for each multiply-add", word_number(of->loads).s);
        break;
    case UNROLLING:
        if (of->multiply_adds > 0)
            snprintf(p.s, sizeof p.s, "%.0f multiply-add%s in the loop", of->multiply_adds,
                     of->multiply_adds == 1 ? "" : "s");
        break;
    case EDGES: snprintf(p.s, sizeof p.s, "%s more work", word_share(k->waste > 0 ? k->waste : 0).s); break;
    case CORES:
        if (of->cores > 0)
            snprintf(p.s, sizeof p.s, "%.0f core%s", of->cores, of->cores == 1 ? "" : "s");
        break;
    case TRAFFIC:
        snprintf(p.s, sizeof p.s, "%s into %s", word_bytes(k->traffic[near]).s, cache_names[near].name);
        break;
    case N_PROPERTIES: break;
    }
    return p;
}

/* ---- the reason ---- */
/* Properties by what they change, the largest first. */
static int by_factor(const factors *f, property out[N_PROPERTIES])
{
    int n = 0;
    for (int i = 0; i < N_PROPERTIES; i++) {
        if (!(f->of[i] > 1.05))
            continue;
        int at = n++;
        for (; at > 0 && f->of[out[at - 1]] < f->of[i]; at--)
            out[at] = out[at - 1];
        out[at] = (property)i;
    }
    return n;
}

double inner_loops(const report *r, cJSON *o)
{
    const account a = account_of(r);
    property of[N_PROPERTIES];
    if (!a.main || a.main->of[r->slow].ns - a.main->of[r->fast].ns < 0.05 * a.total)
        return 0;
    const kernel *slow = a.main->of[r->slow].heaviest, *fast = a.main->of[r->fast].heaviest;
    const factors f = factors_of(r, slow, fast);
    const int n = by_factor(&f, of), near = level_of(r, slow);
    if (!n)
        return 0;
    view_text(o, "name", a.main->name);
    cJSON *list = js_array(
        js_put(o, "measured:%g,estimated:%g,left:%g", f.measured, f.estimated, f.measured / f.estimated), "by");
    for (int i = 0; i < n && i < IN_A_SENTENCE; i++)
        js_row(list, "property:%s,factor:%g,slow:%s,fast:%s", property_name[of[i]], f.of[of[i]],
               say(slow, of[i], near).s, say(fast, of[i], near).s);
    js_put(o, "short:%i,far:%i", f.estimated<f.measured / 1.1, f.estimated> f.measured * 1.1);
    return 3 * a.total;
}

/* ---- the table ---- */
static void row(cJSON *rows, const char *what, double ns, double total)
{
    js_row(rows, "what:%s,slow:%s,fast:%s,gain:%g,of:%g", what, "", "", -ns, ns / total);
}

void fill_made_of(cJSON *o, const report *r)
{
    const account a = r->fast >= 0 && verdict_decided(r) ? account_of(r) : (account){.main = NULL};
    if (!a.main)
        return;
    const kernel *slow = a.main->of[r->slow].heaviest, *fast = a.main->of[r->fast].heaviest;
    const int near = level_of(r, slow);
    cJSON *made = js_object(o, "made"), *rows = js_array(made, "rows");
    view_text(made, "name", a.main->name);
    for (int i = 0; i < N_PROPERTIES; i++)
        if (fabs(a.of[i]) > SMALL * a.total)
            js_row(rows, "what:%s,slow:%s,fast:%s,gain:%g,of:%g", property_name[i], say(slow, (property)i, near).s,
                   say(fast, (property)i, near).s, -a.of[i], a.of[i] / a.total);
    if (fabs(a.ways) > SMALL * a.total)
        row(rows, "computed another way", a.ways, a.total);
    row(rows, "not explained by these", a.open, a.total);
    if (fabs(a.apart) > SMALL * a.total)
        row(rows, "kernels that only one of them has", a.apart, a.total);
    if (r->groups.n_same)
        row(rows, "kernels with the same loops: noise and placement", a.same, a.total);
    if (!isnan(a.outside))
        row(rows, "time outside kernels", a.outside, a.total);
}
