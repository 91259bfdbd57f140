/* Section 2: can I trust it? A checklist of fixed rules, whose findings trust.html puts into words; then every sample
 * and the environment. */
#include "bench/report/page.h"
#include "graph/base/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NOTES = 20 }; /* that are shown; the rest is counted */

typedef enum mood { NOTHING, FINE, CARE, FAILED } mood; /* NOTHING: there is nothing to check */

typedef mood check(const report *r, cJSON *o); /* fills in what it found */
typedef mood check_one(const contestant *c, cJSON *o);

/* What is wrong, or died before it was held against anything. */
static bool is_wrong(const contestant *c)
{
    const bool within = c->max_rel <= c->tolerance;
    return c->max_rel > c->tolerance || (!c->valid && !c->peer && !within);
}

static mood result_right(const contestant *c, cJSON *o)
{
    const bool wrong = is_wrong(c);
    if (isnan(c->max_rel) && isnan(c->max_abs) && !wrong)
        return NOTHING;
    js_put(o, "error:%g,absolute:%i,none:%i,limited:%i,allowed:%g", isnan(c->max_rel) ? c->max_abs : c->max_rel,
           isnan(c->max_rel), isnan(c->max_rel) && isnan(c->max_abs), !isnan(c->tolerance), c->tolerance);
    if (wrong)
        view_text(o, "wrong", *c->reason ? c->reason : c->status);
    return wrong ? FAILED : FINE;
}

/* Each launch is a process of its own, whose memory lies elsewhere: one alone says little. */
static mood enough_samples(const contestant *c, cJSON *o)
{
    if (isnan(c->stats.n))
        return NOTHING;
    js_put(o, "n:%g,launches:%d", c->stats.n, c->n_launch);
    return c->stats.n < 30 || (c->n_launch && c->n_launch < 3) ? CARE : FINE;
}

static mood difference_seen(const report *r, cJSON *o)
{
    if (!r->match || isnan(r->match->detectable))
        return NOTHING;
    js_put(o, "detectable_share:%g,measured_share:%g", r->match->detectable, exp(fabs(log(r->match->ratio))) - 1);
    return outcome_read(r->match->word) == UNDECIDED ? CARE : FINE;
}

/* As the measurement states it; why it was not stands at the times. What others do to a race widens its intervals, so a
 * verdict holds: it is no reason not to use the numbers. */
static mood machine_quiet(const report *r, cJSON *o)
{
    const char *state = js_get_text(r->root, "machine_state/state");
    if (!*state)
        return NOTHING;
    view_text(o, "state", state);
    return strcmp(state, "quiet") == 0 ? FINE : CARE;
}

/* One in twenty is worth a word. */
static mood few_flagged(const report *r, cJSON *o)
{
    int all = 0, flagged = 0, aside = 0;
    for (int i = 0; i < r->n; i++) {
        const contestant *c = &r->of[i];
        all += c->n_sample + c->n_aside, flagged += c->n_flagged, aside += c->n_aside;
    }
    if (!all)
        return NOTHING;
    js_put(o, "all:%d,counted:%d,aside:%d,flagged:%d", all, all - aside, aside, flagged);
    return (flagged + aside) * 20 > all ? CARE : FINE;
}

/* In ns, over all launches; NAN where none was taken. */
double canary_median(const contestant *c)
{
    ENDED_BY(heap_free) double *all = calloc((size_t)c->n_sample + 1, sizeof *all);
    int n = 0;
    for (int l = 0; all && l < c->n_launch; l++)
        for (int i = 0; i < c->launches[l].n; i++)
            if (c->launches[l].canary[i] > 0)
                all[n++] = c->launches[l].canary[i];
    return n ? stats_median(all, n) : (double)NAN;
}

/* From 0.5 % on it is said; beyond 2 % candidates were not measured on the same machine, as it were. */
static mood same_conditions(const report *r, cJSON *o)
{
    double lo = INFINITY, hi = 0;
    for (int i = 0; i < r->n; i++) {
        const double m = canary_median(&r->of[i]);
        lo = fmin(lo, m), hi = fmax(hi, m); /* of a NAN nothing comes */
    }
    if (!(hi > 0))
        return NOTHING;
    js_number(o, "differ_share", fmax(hi / lo - 1, 0.0001));
    return hi / lo - 1 > 0.02 ? FAILED : hi / lo - 1 > 0.005 ? CARE : FINE;
}

/* Last third against first third of a launch, median over launches: throttling and warming show here. */
static double drift_of(const contestant *c)
{
    ENDED_BY(heap_free) double *drift = calloc((size_t)c->n_launch + 1, sizeof *drift);
    int n = 0;
    for (int l = 0; drift && l < c->n_launch; l++) {
        const launch *one = &c->launches[l];
        int third = one->n / 3;
        if (third < 3)
            continue;
        double first = stats_median(one->ns, third), last = stats_median(one->ns + one->n - third, third);
        if (first > 0)
            drift[n++] = last / first - 1;
    }
    return n ? stats_median(drift, n) : (double)NAN;
}

/* Beyond 2 % the figure depends on how long was measured. */
static mood no_drift(const contestant *c, cJSON *o)
{
    const double drift = drift_of(c), shown = round(drift * 1000) / 1000;
    if (isnan(drift))
        return NOTHING;
    js_put(o, "up:%i,drift_share:%g", shown > 0, shown);
    return fabs(drift) > 0.02 ? CARE : FINE;
}

/* Kernel by kernel, caches are warmer or colder than in a pass: from 5 % too much to 20 % too little is usual. */
static mood all_accounted(const contestant *c, cJSON *o)
{
    if (isnan(c->gap_ns))
        return NOTHING;
    js_number(o, "in_share", c->timed_share);
    return c->timed_share > 1.05 || c->timed_share < 0.8 ? CARE : FINE;
}

/* By other guests of the host, as this system was told. */
static mood not_taken(const report *r, cJSON *o)
{
    const double steal = result_number(r->environment, "steal_share");
    if (isnan(steal))
        return NOTHING;
    js_number(o, "taken_share", steal);
    return steal > 0.005 ? CARE : FINE;
}

static const struct {
    const char *kind;
    check *ask;
    check_one *each; /* in its place: of each contestant, the worst of all counts */
} checks[] = {{"right", .each = result_right}, {"samples", .each = enough_samples},  {"fine", .ask = difference_seen},
              {"quiet", .ask = machine_quiet}, {"flagged", .ask = few_flagged},      {"alike", .ask = same_conditions},
              {"drift", .each = no_drift},     {"accounted", .each = all_accounted}, {"taken", .ask = not_taken}};

static mood worst_of(const report *r, check_one *ask, cJSON *o)
{
    mood worst = NOTHING;
    cJSON *of = js_array(o, "of");
    for (int i = 0; i < r->n; i++) {
        cJSON *one = js_object(of, NULL);
        view_who(one, "who", r, i, NULL);
        const mood m = ask(&r->of[i], one);
        worst = m > worst ? m : worst;
        if (m == NOTHING)
            cJSON_Delete(cJSON_DetachItemViaPointer(of, one));
    }
    return worst;
}

const char *fill_trust(cJSON *o, const report *r)
{
    static const char *const moods[] = {[FINE] = "ok", [CARE] = "warn", [FAILED] = "bad"};
    cJSON *list = js_array(o, "checks");
    if (!r->n)
        return "the results name no candidate";
    for (int m = FAILED; m > NOTHING; m--) /* what speaks against it first */
        for (int i = 0; i < COUNT(checks); i++) {
            cJSON *found = js_row(list, "kind:%s,mood:%s", checks[i].kind, moods[m]);
            if ((int)(checks[i].ask ? checks[i].ask(r, found) : worst_of(r, checks[i].each, found)) != m)
                cJSON_Delete(cJSON_DetachItemViaPointer(list, found));
        }
    view_some(o, "notes", js_get(r->root, "notes"), MAX_NOTES, true); /* what the measurement itself had to say */
    fill_samples(o, r);
    fill_environment(o, r);
    return NULL;
}
