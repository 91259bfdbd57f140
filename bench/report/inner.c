/* What the innermost loops make of the machine, and what that is worth: the first reason of a report, and the table of
 * what the difference is made of. */
#include "bench/report/factors.h"
#include "bench/report/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { IN_A_SENTENCE = 4 };       /* loops */
static const double SMALL = 0.02; /* of the difference: not worth a row */

/* ---- one property of a nest in words ---- */
typedef struct phrase {
    char s[96];
} phrase;

static const char *const cache[] = {"L1", "L2", "L3"};

/* The level whose traffic takes the slow nest longest. */
static int level_of(const report *r, const kernel *slow)
{
    static const char *const ceiling[] = {"l2_gbs", "l3_gbs", "read_gbs"};
    int worst = 2;
    double most = 0;
    for (int i = 0; i < 3; i++) {
        const double time = slow->traffic[i] / result_number(r->ceilings, ceiling[i]);
        if (time > most)
            most = time, worst = i;
    }
    return worst;
}

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
    case TRAFFIC: snprintf(p.s, sizeof p.s, "%s into %s", word_bytes(k->traffic[near]).s, cache[near]); break;
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

static void together(text *t, const factors *f)
{
    text_add(t, "; together %s", word_ratio(f->estimated).s);
    if (f->estimated < f->measured / 1.1)
        text_add(t, ", so that %s is not explained by these.", word_ratio(f->measured / f->estimated).s);
    else if (f->estimated > f->measured * 1.1)
        text_add(t, ": the estimate goes too far, and its parts are to be read in proportion.");
    else
        text_add(t, ".");
}

double inner_loops(const report *r, text *t)
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
    html_add(t, "<b.name>%1s</b> is %s faster under %-s than under %-s. By estimate: ", a.main->name,
             word_ratio(f.measured).s, r->of[r->fast].mark, r->of[r->slow].mark);
    for (int i = 0; i < n && i < IN_A_SENTENCE; i++)
        html_add(t, "%s<b>%s</b> about %s (%s → %s)", i ? ", " : "", property_name[of[i]], word_ratio(f.of[of[i]]).s,
                 say(slow, of[i], near).s, say(fast, of[i], near).s);
    together(t, &f);
    return 3 * a.total;
}

/* ---- the table ---- */
static void row(text *t, const char *what, const char *slow, const char *fast, double ns, double total)
{
    html_row(t, "%s|%s|%s|#%s|#%s", what, slow, fast, word_gain(-ns).s, word_part(ns / total).s);
}

void made_of(text *t, const report *r)
{
    if (r->fast < 0 || !verdict_decided(r))
        return;
    const account a = account_of(r);
    if (!a.main)
        return;
    const kernel *slow = a.main->of[r->slow].heaviest, *fast = a.main->of[r->fast].heaviest;
    const int near = level_of(r, slow);
    html_add(t,
             "<h3>What the difference is made of</h3><p.lead>By estimate from the loops and the %s ceilings, over all "
             "kernels whose loops differ. The figures beside are of <b.name>%1s</b>, which gains most.</p>\n",
             report_source(r), a.main->name);
    sheet_open(t, "", "what differs|%-s|%-s|#time|#of the difference", r->of[r->slow].mark, r->of[r->fast].mark);
    for (int i = 0; i < N_PROPERTIES; i++)
        if (fabs(a.of[i]) > SMALL * a.total)
            row(t, property_name[i], say(slow, (property)i, near).s, say(fast, (property)i, near).s, a.of[i], a.total);
    if (fabs(a.ways) > SMALL * a.total)
        row(t, "computed another way", "", "", a.ways, a.total);
    row(t, "not explained by these", "", "", a.open, a.total);
    if (fabs(a.apart) > SMALL * a.total)
        row(t, "kernels that only one of them has", "", "", a.apart, a.total);
    if (r->groups.n_same)
        row(t, "kernels with the same loops: noise and placement", "", "", a.same, a.total);
    if (!isnan(a.outside))
        row(t, "time outside kernels", "", "", a.outside, a.total);
    sheet_close(t);
    html_add(t,
             "<p.soft>A kernel's time is estimated as the larger of its arithmetic, as its innermost loops can issue "
             "it, and its traffic at the %s speeds; each property counts for what it changes on average over all "
             "orders of changing one nest into the other.</p>\n",
             report_source(r));
}
