/* state.h - what the machine was like while a race was run, which of its rounds count therefore, and what they say.
 *
 * A sample is disturbed when others took more than half a percent of it. A round counts when no sample of it is:
 * the same rounds for the table, the verdicts, the report and compare. Where hardly any is left so, the machine was
 * overloaded: then every round counts, and of each time what its threads waited for a processor is taken off.
 * Reasons for the rule and its numbers: docs/bench.md, "Which samples count". A race is only read; conditions are a
 * plain value, a list of rounds is the caller's to free. */
#pragma once
#include "bench/race.h"

typedef enum machine_state { QUIET, BUSY, OVERLOADED } machine_state;
const char *state_name(machine_state s); /* "quiet" */

typedef struct conditions {
    machine_state state;
    char why[512];        /* what makes it so; "" where it is quiet */
    int rounds, counted;  /* of all launches */
    int launches;         /* that have rounds that count */
    int taken, disturbed; /* samples of all contestants, with those that were taken again */
    double usual_canary;  /* ns, the median */
    double lost;          /* share of all samples that other programs took */
    double flagged;       /* share of the samples whose canary was slow */
    double stolen;        /* share of the processors' time that other guests took; NAN where it is not told */
    double by_waiting;    /* see sample_ns; 0 unless the machine was overloaded */
} conditions;

bool sample_disturbed(const sample *s);
double sample_lost(const sample *s); /* share of it that was taken; all of it where that is not told */
bool sample_flagged(const sample *s, double usual_canary);

/* Whether each round of all launches is set aside; for free(). */
bool *rounds_aside_make(const race *r);
conditions conditions_of(const race *r, const bool *aside);
/* Of one pass: what was measured, times the share of it that its threads had a processor, to the power by_waiting. */
double sample_ns(const race *r, const conditions *seen, const sample *s);

/* A race with what is concluded about its rounds. */
typedef struct measured {
    const race *r;
    const bool *aside; /* by round */
    conditions seen;
} measured;
series measured_series(const measured *m, const contestant *c); /* of the rounds that count; series_free */
double measured_margin(const measured *m);                      /* what a busy machine may add to one of two */
comparison measured_compare(const measured *m, const contestant *a, const contestant *b);
/* Whether more launches could still decide something: an interval of the fastest candidate against another reaches
 * farther to one side than half the threshold, and than half the difference found. Verdicts are not asked about: else
 * a race would go on until chance has made two equal ones differ. */
bool race_is_open(const race *r);
