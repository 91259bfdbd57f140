/* timed.h - the step of a training run as a thing to be timed: the plan that `tessera train` would run with the same
 * options, on one batch drawn from a seed: tokens, or arrays where text cannot fill the inputs, and labels. Zeroed
 * before timed_open; timed_close always. It owns all that it opened until then; a plan that timed_plan made is its
 * step's. */
#pragma once
#include "train/step.h"

typedef struct timed_step {
    train_options asked;
    net net;
    const ranks *ranks; /* set before timed_open, with asked->shards; NULL: one process */
    step step;
    data data;
    ts_array batch[MOST_FED]; /* net_n_arrays of them; without data where the step does not read one */
    int64_t at;               /* steps taken since timed_begin */
} timed_step;
bool timed_open(timed_step *t, const cJSON *asked, const char *model, ts_error *e);
bool timed_draw(timed_step *t, uint64_t seed, ts_error *e);       /* the batch */
bool timed_plan(timed_step *t, const ts_options *o, ts_error *e); /* makes t->step.plan, which is not built yet */
bool timed_begin(timed_step *t, ts_error *e);                     /* weights and moments as a run begins */
enum { TIMED_SCHEDULE = 1000 }; /* steps that the run would have; behind them the rate is 0 */
/* The next step; its loss and the norm of all gradients. */
enum { TIMED_OUTPUTS = 2 };
extern const char *const timed_output[TIMED_OUTPUTS];            /* their names */
bool timed_step_run(timed_step *t, step_result *r, ts_error *e); /* of shards, which all have one batch: own ones */
bool timed_run(timed_step *t, double out[TIMED_OUTPUTS], ts_error *e);
void timed_close(timed_step *t);
