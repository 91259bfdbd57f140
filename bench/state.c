/* state.c - samples are judged alone, then rounds, since comparisons are of rounds; the thresholds stand in a table
 * at the top. */
#include "bench/state.h"
#include "bench/report/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double LOST = USUAL_THRESHOLD / 2; /* of a sample: half of the smallest difference that matters */
static const double CANARY_MOVES = 1.005;       /* beyond it a sample is flagged */
/* Shares from which a machine is no longer quiet. */
/* shares above which the state of the machine says so */
static const double SOME_DISTURBED = 0.05, SOME_FLAGGED = 0.2, SOME_STOLEN = 0.01;
static const double MOST_ASIDE = 0.5; /* from which what is left of the rounds is the exception */
static const double LEAST_OWN = 0.01; /* of a sample, however long its threads are said to have waited */
/* A peer whose samples are mostly disturbed, while those of the candidates hardly are, disturbs itself. */
/* of a peer: samples that are disturbed, and the share of its race in which candidates ran */
static const double MOSTLY = 0.5, HARDLY = 0.1;

const char *state_name(machine_state s)
{
    static const char *const name[] = {"quiet", "busy", "overloaded"};
    return name[s];
}

bool sample_disturbed(const sample *s)
{
    return s->taken > 0 && !(s->lost <= LOST);
}

double sample_lost(const sample *s)
{
    return s->taken == 0 ? 0 : s->lost >= 0 ? s->lost : 1;
}

bool sample_flagged(const sample *s, double usual_canary)
{
    return s->canary > CANARY_MOVES * usual_canary;
}

/* ---- which rounds count ---- */

static double disturbed_share(const contestant *c, int n)
{
    int disturbed = 0;
    for (int i = 0; i < n; i++)
        disturbed += sample_disturbed(&c->samples[i]);
    return n > 0 ? (double)disturbed / n : 0;
}

static bool by_itself(const race *r, const contestant *c)
{
    const int n = r->start[r->launches];
    double candidates = 0;
    int in_race = 0;
    if (!c->peer || disturbed_share(c, n) <= MOSTLY)
        return false;
    for (int i = 0; i < r->n_candidates; i++)
        if (r->of[i].standing == IN_RACE) {
            candidates += disturbed_share(&r->of[i], n);
            in_race++;
        }
    return in_race > 0 && candidates / in_race < HARDLY;
}

/* Rounds with a sample that is disturbed; for free(). */
static bool *disturbed_rounds_make(const race *r)
{
    const int n = r->start[r->launches];
    bool *aside = calloc((size_t)n + 1, sizeof *aside);
    for (int i = 0; i < r->n && aside; i++) {
        const contestant *c = &r->of[i];
        const bool held = c->standing == IN_RACE && !by_itself(r, c);
        for (int k = 0; held && k < n; k++)
            aside[k] |= sample_disturbed(&c->samples[k]);
    }
    return aside;
}

/* Rounds that are not in the list, and launches that have such. */
static int rounds_left(const race *r, const bool *aside, int *launches)
{
    int left = 0;
    *launches = 0;
    for (int l = 0; l < r->launches; l++) {
        const int before = left;
        for (int k = r->start[l]; k < r->start[l + 1]; k++)
            left += !aside[k];
        *launches += left > before;
    }
    return left;
}

static bool too_few(int left, int rounds, int launches, int of_launches)
{
    return rounds - left > MOST_ASIDE * rounds || (launches < FEWEST_LAUNCHES && launches < of_launches);
}

bool *rounds_aside_make(const race *r)
{
    bool *aside = disturbed_rounds_make(r);
    const int n = r->start[r->launches];
    int launches = 0, left = aside ? rounds_left(r, aside, &launches) : 0;
    if (aside && too_few(left, n, launches, r->launches))
        memset(aside, 0, (size_t)n * sizeof *aside);
    return aside;
}

/* ---- the state ---- */

static double usual_canary(const race *r)
{
    int each = r->start[r->launches], n = 0;
    ENDED_BY(heap_free) double *all = calloc((size_t)each * (size_t)r->n + 1, sizeof *all);
    for (int i = 0; all && i < r->n; i++)
        for (int k = 0; r->of[i].standing == IN_RACE && k < each; k++)
            all[n++] = r->of[i].samples[k].canary;
    return stats_median(all, n);
}

static void count(conditions *s, const race *r, const bool *aside)
{
    int kept = 0, flagged = 0;
    double lost = 0;
    s->rounds = r->start[r->launches];
    s->counted = rounds_left(r, aside, &s->launches);
    for (int i = 0; i < r->n; i++) {
        const contestant *c = &r->of[i];
        const bool held = c->standing == IN_RACE && !by_itself(r, c);
        for (int k = 0; held && k < s->rounds; k++) {
            const sample *one = &c->samples[k];
            kept++;
            flagged += sample_flagged(one, s->usual_canary);
            s->taken += 1 + one->retaken;
            s->disturbed += sample_disturbed(one) + one->retaken;
            lost += sample_lost(one) + one->retaken_lost;
        }
    }
    s->flagged = kept > 0 ? (double)flagged / kept : 0;
    s->lost = s->taken > 0 ? lost / s->taken : 0;
}

/* Says so where too few rounds were left alone, and all count therefore. */
static bool overloaded(conditions *s, const race *r)
{
    ENDED_BY(heap_free) bool *disturbed = disturbed_rounds_make(r);
    int launches = 0;
    const int left = disturbed ? rounds_left(r, disturbed, &launches) : 0;
    if (!too_few(left, s->rounds, launches, r->launches))
        return false;
    snprintf(s->why, sizeof s->why, "other programs left %d of %d rounds alone, in %d of %d launches", left, s->rounds,
             launches, r->launches);
    return true;
}

static machine_state judge(conditions *s, const race *r)
{
    const double disturbed = s->taken > 0 ? (double)s->disturbed / s->taken : 0;
    if (overloaded(s, r))
        return OVERLOADED;
    if (disturbed > SOME_DISTURBED)
        snprintf(s->why, sizeof s->why, "other programs disturbed %d of %d samples", s->disturbed, s->taken);
    else if (s->flagged > SOME_FLAGGED)
        snprintf(s->why, sizeof s->why, "the canary was slow beside %.0f %% of the samples", 100 * s->flagged);
    else if (s->stolen > SOME_STOLEN)
        snprintf(s->why, sizeof s->why, "other guests of the host took %.1f %% of the processor time", 100 * s->stolen);
    return s->why[0] != 0 ? BUSY : QUIET;
}

/* Share of a sample that its threads had a processor. What one thread waits is of one of them. */
static double own_share(const race *r, const sample *s)
{
    const double lost = s->taken > 0 && s->lost > 0 ? s->lost : 0;
    return fmax(LEAST_OWN, 1 - lost / r->o.threads);
}

/* How the times follow what was waited: the slope of their logarithms, each against the mean of its launch. One thread
 * that waits may hold up all (then it is the number of threads), or the others take over its work (then it is 1). */
static double by_waiting(const race *r)
{
    double xy = 0, xx = 0;
    for (int i = 0; i < r->n; i++)
        for (int l = 0; l < r->launches && r->of[i].standing == IN_RACE; l++) {
            const sample *s = r->of[i].samples + r->start[l];
            const int n = r->start[l + 1] - r->start[l];
            double x = 0, y = 0;
            for (int k = 0; k < n; k++)
                x += log(own_share(r, &s[k])) / n, y += log(s[k].ns) / n;
            for (int k = 0; k < n; k++) {
                const double dx = log(own_share(r, &s[k])) - x;
                xy += dx * (log(s[k].ns) - y), xx += dx * dx;
            }
        }
    return xx > 0 ? fmin(fmax(-xy / xx, 0), r->o.threads) : 0;
}

conditions conditions_of(const race *r, const bool *aside)
{
    conditions s = {.usual_canary = usual_canary(r), .stolen = stolen_share(r->ticks_before, r->ticks_after)};
    count(&s, r, aside);
    s.state = judge(&s, r);
    s.by_waiting = s.state == OVERLOADED ? by_waiting(r) : 0;
    return s;
}

/* ---- what the rounds that count say ---- */

double sample_ns(const race *r, const conditions *seen, const sample *s)
{
    return seen->by_waiting > 0 ? s->ns * pow(own_share(r, s), seen->by_waiting) : s->ns;
}

series measured_series(const measured *m, const contestant *c)
{
    const int n = c->standing == IN_RACE ? m->r->start[m->r->launches] : 0;
    ENDED_BY(heap_free) double *v = calloc((size_t)n + 1, sizeof *v);
    for (int i = 0; v && i < n; i++)
        v[i] = sample_ns(m->r, &m->seen, &c->samples[i]);
    const bool any = n > 0 && v && m->aside;
    return any ? series_of(&(sample_set){m->r->launches, m->r->start, v}, m->aside) : (series){0};
}

double measured_margin(const measured *m)
{
    return m->seen.state == QUIET ? 0 : m->r->o.threshold;
}

comparison measured_compare(const measured *m, const contestant *a, const contestant *b)
{
    ENDED_BY(series_free) series sa = measured_series(m, a), sb = measured_series(m, b);
    sample_set x = series_set(&sa), y = series_set(&sb);
    const double threshold = m->r->o.threshold;
    comparison c = stats_allow(stats_compare(&x, &y, threshold, m->r->o.seed), measured_margin(m), threshold);
    if (m->seen.state == OVERLOADED && c.launches < FEWEST_LAUNCHES) /* what neighbours do to a launch is not known */
        c.verdict = UNDECIDED;
    return c;
}

static const contestant *fastest(const measured *m)
{
    const contestant *best = NULL;
    double least = INFINITY;
    for (int i = 0; i < m->r->n_candidates; i++) {
        ENDED_BY(series_free) series s = measured_series(m, &m->r->of[i]);
        const double median = stats_median(s.v, s.n);
        if (median < least)
            least = median, best = &m->r->of[i];
    }
    return best;
}

bool race_is_open(const race *r)
{
    bool *aside = rounds_aside_make(r), open = false;
    const measured m = {r, aside, conditions_of(r, aside)};
    const contestant *best = fastest(&m);
    for (int i = 0; best && i < r->n && !open; i++) {
        if (&r->of[i] == best || r->of[i].standing != IN_RACE)
            continue;
        const comparison c = measured_compare(&m, best, &r->of[i]);
        const double margin = measured_margin(&m);
        open = !(c.detectable - margin <= 0.5 * fmax(r->o.threshold, fabs(log(c.ratio))));
    }
    free(aside);
    return open;
}
