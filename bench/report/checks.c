/* Section 2: can I trust it? A checklist of fixed rules with their findings; then every sample and the environment. */
#include "bench/report/parts.h"
#include "graph/base/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NOTES = 20 }; /* that are shown; the rest is counted */

typedef enum mood { FINE, CARE, FAILED } mood;

static void check_row(text *t, mood m, const char *what, const text *finding)
{
    static const char *const class[] = {"ok", "warn", "bad"}, *const sign[] = {"✓ yes", "! partly", "✗ no"};
    html_row(t, "<span.sign.%s>%s</span>|%s|%-s", class[m], sign[m], what, text_str(finding));
}

typedef mood check(const report *r, text *out); /* no finding: nothing to check */

static const char *between(const text *out)
{
    return out->length ? "; " : "";
}

static void error_of(text *out, const contestant *c)
{
    if (isnan(c->max_rel) && isnan(c->max_abs))
        text_add(out, " no result");
    else if (isnan(c->max_rel))
        text_add(out, " %s, absolute", word_number(c->max_abs).s);
    else
        text_add(out, " %s", word_number(c->max_rel).s);
    if (!isnan(c->tolerance))
        text_add(out, " (allowed: %s)", word_number(c->tolerance).s);
}

/* What is wrong, or died before it was held against anything. */
static bool is_wrong(const contestant *c)
{
    const bool within = c->max_rel <= c->tolerance;
    return c->max_rel > c->tolerance || (!c->valid && !c->peer && !within);
}

static mood results_right(const report *r, text *out)
{
    mood m = FINE;
    for (int i = 0; i < r->n; i++) {
        const contestant *c = &r->of[i];
        const bool wrong = is_wrong(c);
        if (isnan(c->max_rel) && isnan(c->max_abs) && !wrong)
            continue;
        html_add(out, "%s%-s", out->length ? "; " : "largest error as a part of the largest value: ", r->of[i].mark);
        error_of(out, c);
        if (wrong) {
            m = FAILED;
            html_add(out, ": %.200s", *c->reason ? c->reason : c->status);
        }
    }
    return m;
}

/* Each launch is a process of its own, whose memory lies elsewhere: one alone says little. */
static mood enough_samples(const report *r, text *out)
{
    mood m = FINE;
    for (int i = 0; i < r->n; i++) {
        const contestant *c = &r->of[i];
        if (isnan(c->stats.n))
            continue;
        html_add(out, "%s%-s %s", between(out), r->of[i].mark, word_count(c->stats.n).s);
        if (c->n_launch)
            text_add(out, " in %d launch%s", c->n_launch, c->n_launch == 1 ? "" : "es");
        if (c->stats.n < 30 || (c->n_launch && c->n_launch < 3))
            m = CARE;
    }
    if (m == CARE)
        text_add(out,
                 ". At least 30 samples in 3 or more launches are wanted: one process may be lucky with its addresses");
    return m;
}

static mood difference_seen(const report *r, text *out)
{
    if (!r->match || isnan(r->match->detectable))
        return FINE;
    double found = fabs(log(r->match->ratio));
    text_add(out, "differences of %s or more can be detected; measured: %s", word_share(r->match->detectable).s,
             word_share(exp(found) - 1).s);
    return outcome_read(r->match->word) == UNDECIDED ? CARE : FINE;
}

/* As the measurement states it. Why it was not stands at the times. */
static mood machine_quiet(const report *r, text *out)
{
    const char *state = js_get_text(r->root, "machine_state/state");
    if (!*state)
        return FINE;
    html_add(out, "%s", state);
    return strcmp(state, "quiet") == 0 ? FINE : strcmp(state, "busy") == 0 ? CARE : FAILED;
}

/* One in five of a contestant is too many, one in twenty of all worth a word. */
static mood few_flagged(const report *r, text *out)
{
    mood m = FINE;
    int all = 0, flagged = 0, aside = 0;
    for (int i = 0; i < r->n; i++) {
        const contestant *c = &r->of[i];
        const int of_all = c->n_sample + c->n_aside, bad = c->n_flagged + c->n_aside;
        all += of_all;
        flagged += c->n_flagged;
        aside += c->n_aside;
        if (bad * 5 > of_all)
            m = FAILED;
    }
    if (!all)
        return FINE;
    text_add(out, "%d of %d samples count", all - aside, all);
    if (aside)
        text_add(out, "; other programs took processor time in the rounds of the others, which are set aside");
    if (flagged)
        text_add(out, "; %d that count are flagged", flagged);
    return m == FINE && (flagged + aside) * 20 > all ? CARE : m;
}

/* In ns, over all launches; NAN where none was taken. */
double canary_median(const contestant *c)
{
    double *all = calloc((size_t)c->n_sample + 1, sizeof *all);
    int n = 0;
    for (int l = 0; all && l < c->n_launch; l++)
        for (int i = 0; i < c->launches[l].n; i++)
            if (c->launches[l].canary[i] > 0)
                all[n++] = c->launches[l].canary[i];
    double median = n ? stats_median(all, n) : (double)NAN;
    free(all);
    return median;
}

/* From 0.5 % on it is said; beyond 2 % candidates were not measured on the same machine, as it were. */
static mood same_conditions(const report *r, text *out)
{
    double lo = INFINITY, hi = 0;
    for (int i = 0; i < r->n; i++) {
        const double m = canary_median(&r->of[i]);
        lo = fmin(lo, m), hi = fmax(hi, m); /* of a NAN nothing comes */
    }
    if (!(hi > 0))
        return FINE;
    text_add(out,
             "the canary, a fixed piece of work beside each sample, differed by up to %s between candidates "
             "(limit 0.5 %%)",
             word_share(fmax(hi / lo - 1, 0.0001)).s);
    return hi / lo - 1 > 0.02 ? FAILED : hi / lo - 1 > 0.005 ? CARE : FINE;
}

/* Last third against first third of a launch, median over launches: throttling and warming show here. */
static double drift_of(const contestant *c)
{
    double *drift = calloc((size_t)c->n_launch + 1, sizeof *drift);
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
    double median = n ? stats_median(drift, n) : (double)NAN;
    free(drift);
    return median;
}

/* Beyond 2 % the figure depends on how long was measured. */
static mood no_drift(const report *r, text *out)
{
    mood m = FINE;
    for (int i = 0; i < r->n; i++) {
        double drift = drift_of(&r->of[i]);
        if (isnan(drift))
            continue;
        const double shown = round(drift * 1000) / 1000;
        html_add(out, "%s%-s %s%s", between(out), r->of[i].mark, shown > 0 ? "+" : "", word_share(shown).s);
        if (fabs(drift) > 0.02)
            m = CARE;
    }
    if (out->length)
        text_add(out, " from the first to the last third of a launch");
    return m;
}

/* Kernel by kernel, caches are warmer or colder than in a pass: from 5 % too much to 20 % too little is usual. */
static mood all_accounted(const report *r, text *out)
{
    mood m = FINE;
    for (int i = 0; i < r->n; i++) {
        const contestant *c = &r->of[i];
        if (isnan(c->gap_ns))
            continue;
        double gap = c->gap_ns / c->stats.median;
        html_add(out, "%s%-s %s", between(out), r->of[i].mark, word_share(1 - gap).s);
        if (gap < -0.05 || gap > 0.2)
            m = CARE;
    }
    if (out->length)
        text_add(out, " of the time is in kernels, timed one by one%s",
                 m == CARE ? ": the sum is not close to the whole, so shares are rough" : "");
    return m;
}

/* By other guests of the host, as this system was told. */
static mood not_taken(const report *r, text *out)
{
    const double steal = result_number(r->environment, "steal_share");
    if (isnan(steal))
        return FINE;
    text_add(out, "other guests of this machine took %s of the processor time", word_share(steal).s);
    return steal > 0.02 ? FAILED : steal > 0.005 ? CARE : FINE;
}

static void checklist(text *t, const report *r)
{
    static const struct {
        const char *question;
        check *ask;
    } rows[] = {{"Are the results right?", results_right},
                {"Enough samples?", enough_samples},
                {"Fine enough to see the difference?", difference_seen},
                {"Was the machine quiet?", machine_quiet},
                {"Few disturbed samples?", few_flagged},
                {"Same conditions for all?", same_conditions},
                {"No drift?", no_drift},
                {"Is all time accounted for?", all_accounted},
                {"Processor not taken away?", not_taken}};
    sheet_open(t, "checks", "");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        text finding = {0};
        mood m = rows[i].ask(r, &finding);
        if (finding.length)
            check_row(t, m, rows[i].question, &finding);
        text_free(&finding);
    }
    sheet_close(t);
}

/* What the measurement itself had to say. */
static void notes(text *t, const report *r)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(r->root, "notes"), *n;
    int shown = 0;
    cJSON_ArrayForEach(n, list)
    {
        if (!cJSON_IsString(n) || shown++ >= MAX_NOTES)
            continue;
        html_add(t, "<p.soft>note: %s</p>\n", n->valuestring);
    }
}

const char *part_trust(text *t, const report *r)
{
    if (!r->n)
        return "the results name no candidate";
    checklist(t, r);
    notes(t, r);
    samples_strip(t, r);
    environment_facts(t, r);
    return NULL;
}
