/* state.c - samples are judged alone, then rounds, since comparisons are of rounds; the thresholds stand in a table
 * at the top. */
#include "bench/state.h"
#include "bench/report/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double LOST = USUAL_THRESHOLD / 2; /* of a sample: half of the smallest difference that matters */
static const double CANARY_MOVES = 1.005;       /* beyond it a sample is flagged */
/* Shares from which a machine is no longer quiet. */
/* shares above which the state of the machine says so */
static const double SOME_DISTURBED = 0.05, SOME_FLAGGED = 0.2, SOME_STOLEN = 0.01;
static const double MOST_ASIDE = 0.5; /* from which what is left of the rounds is the exception */
/* A peer whose samples are mostly disturbed, while those of the candidates hardly are, disturbs itself. */
/* of a peer: samples that are disturbed, and the share of its race in which candidates ran */
static const double MOSTLY = 0.5, HARDLY = 0.1;

const char *state_name(machine_state s)
{
    static const char *const name[] = {"quiet", "busy", "unusable"};
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

bool *rounds_aside_make(const race *r)
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

/* ---- the state ---- */

static double usual_canary(const race *r)
{
    int each = r->start[r->launches], n = 0;
    double *all = calloc((size_t)each * (size_t)r->n + 1, sizeof *all);
    for (int i = 0; all && i < r->n; i++)
        for (int k = 0; r->of[i].standing == IN_RACE && k < each; k++)
            all[n++] = r->of[i].samples[k].canary;
    double median = stats_median(all, n);
    free(all);
    return median;
}

static void count(conditions *s, const race *r, const bool *aside)
{
    int kept = 0, flagged = 0;
    double lost = 0;
    s->rounds = r->start[r->launches];
    for (int l = 0; l < r->launches; l++) {
        const int before = s->counted;
        for (int k = r->start[l]; k < r->start[l + 1]; k++)
            s->counted += !aside[k];
        s->launches += s->counted > before;
    }
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

static bool unusable(conditions *s, int launches)
{
    const int aside = s->rounds - s->counted;
    if (s->rounds > 0 && s->counted == 0)
        snprintf(s->why, sizeof s->why, "other programs took processor time from all %d rounds", s->rounds);
    else if (aside > MOST_ASIDE * s->rounds)
        snprintf(s->why, sizeof s->why, "other programs took processor time from %d of %d rounds; at most half may be",
                 aside, s->rounds);
    else if (s->launches < FEWEST_LAUNCHES && s->launches < launches)
        snprintf(s->why, sizeof s->why,
                 "only %d of %d launches have rounds that other programs took no time from; %d "
                 "are needed",
                 s->launches, launches, FEWEST_LAUNCHES);
    return s->why[0] != 0;
}

static machine_state judge(conditions *s, int launches)
{
    const double disturbed = s->taken > 0 ? (double)s->disturbed / s->taken : 0;
    if (unusable(s, launches))
        return UNUSABLE;
    if (disturbed > SOME_DISTURBED)
        snprintf(s->why, sizeof s->why, "other programs disturbed %d of %d samples", s->disturbed, s->taken);
    else if (s->flagged > SOME_FLAGGED)
        snprintf(s->why, sizeof s->why, "the canary was slow beside %.0f %% of the samples", 100 * s->flagged);
    else if (s->stolen > SOME_STOLEN)
        snprintf(s->why, sizeof s->why, "other guests of the host took %.1f %% of the processor time", 100 * s->stolen);
    return s->why[0] != 0 ? BUSY : QUIET;
}

conditions conditions_of(const race *r, const bool *aside)
{
    conditions s = {.usual_canary = usual_canary(r), .stolen = stolen_share(r->ticks_before, r->ticks_after)};
    count(&s, r, aside);
    s.state = judge(&s, r->launches);
    return s;
}
