/* What the innermost loops make of the machine, and what that is worth: the first reason of a report, and the table of
 * what the difference is made of. */
#include "bench/report/factors.h"
#include "bench/report/page.h"

#include <math.h>

enum { IN_A_SENTENCE = 4 };       /* loops */
static const double SMALL = 0.02; /* of the difference: not worth a row */

/* What each property of a nest is said by */
static const char *const phrases[N_PROPERTIES] = {
    [VECTORS] = "[lanes=1?scalar: 1 element at a time|[lanes>1?vectors of {lanes:%.0f}|–]]",
    [SUMS] = "[sums>0?{sums:%.0f} sum[sums=1?|s] at once|–]",
    [LOADS] = "[loads?{loads:number} for each multiply-add|–]",
    [UNROLLING] = "[multiply_adds>0?{multiply_adds:%.0f} multiply-add[multiply_adds=1?|s] in the loop|–]",
    [EDGES] = "{waste_share} more work",
    [CORES] = "[cores>0?{cores:%.0f} core[cores=1?|s]|–]",
    [TRAFFIC] = "{traffic_bytes} into {near!} in a call"};

/* One property, and how the two nests have it: "what", "slow", "fast" of the row */
static void fill_property(cJSON *row, const report *r, property i, const kernel *const of[2])
{
    const int near = level_of(r, of[0]);
    for (int k = 0; k < 2; k++) {
        const tile *y = &of[k]->tile;
        ENDED_BY(js_free) cJSON *o = cJSON_CreateObject();
        ENDED_BY(text_free) text t = {0};
        js_put(o, "lanes:%g,sums:%g,loads:%g,multiply_adds:%g,cores:%g,waste_share:%g,traffic_bytes:%g,near:%s",
               y->lanes, y->sums, y->loads, y->multiply_adds, y->cores, of[k]->waste > 0 ? of[k]->waste : 0,
               of[k]->traffic[near], cache_names[near].name);
        page_form(&t, r, PLAIN, &(form_place){o, NULL}, phrases[i]);
        js_text(row, k ? "fast" : "slow", text_str(&t));
    }
    js_text(row, "what", property_name[i]);
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
    const kernel *const of_both[] = {a.main->of[r->slow].heaviest, a.main->of[r->fast].heaviest};
    const factors f = factors_of(r, of_both[0], of_both[1]);
    const int n = by_factor(&f, of);
    if (!n)
        return 0;
    view_text(o, "name", a.main->name);
    cJSON *list = js_array(o, "by");
    js_put(o, "measured:%g,estimated:%g,left:%g,short:%i,far:%i,several:%i", f.measured, f.estimated,
           f.measured / f.estimated, f.estimated<f.measured / 1.1, f.estimated> f.measured * 1.1, n > 1);
    for (int i = 0; i < n && i < IN_A_SENTENCE; i++)
        fill_property(js_row(list, "factor:%g", f.of[of[i]]), r, of[i], of_both);
    return 3 * a.total;
}

/* ---- the table ---- */
static void row(cJSON *rows, const char *what, double ns, double total)
{
    js_row(rows, "what:%s,gain:%g,of:%g", what, -ns, ns / total);
}

void fill_made_of(cJSON *o, const report *r)
{
    const account a = r->fast >= 0 && verdict_decided(r) ? account_of(r) : (account){.main = NULL};
    if (!a.main)
        return;
    const kernel *const of_both[] = {a.main->of[r->slow].heaviest, a.main->of[r->fast].heaviest};
    cJSON *made = js_object(o, "made"), *rows = js_array(made, "rows");
    view_text(made, "name", a.main->name);
    for (int i = 0; i < N_PROPERTIES; i++)
        if (fabs(a.of[i]) > SMALL * a.total)
            fill_property(js_row(rows, "gain:%g,of:%g", -a.of[i], a.of[i] / a.total), r, (property)i, of_both);
    if (fabs(a.ways) > SMALL * a.total)
        row(rows, "computed another way", a.ways, a.total);
    row(rows, "not explained by these", a.open, a.total);
    if (fabs(a.apart) > SMALL * a.total)
        row(rows, "kernels that only one of them has", a.apart, a.total);
    if (r->groups.n_same)
        row(rows, "kernels with the same loops: not explained (noise, placement)", a.same, a.total);
    if (!isnan(a.outside))
        row(rows, "time outside kernels", a.outside, a.total);
}
