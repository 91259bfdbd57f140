/* run_step.h - the plan of a training run's step, for verbs that look at plans. It lives until `look`
 * returns; the run's folder is only read. */
#pragma once
#include "cli/args.h"

typedef bool step_look(void *user, ts_plan *step, ts_error *e);
/* Plans the step of a run under a schema (NULL: the guess) and shows it to `look`. Extents were settled when the run
 * began: options that give them are refused. */
int run_step(const args *a, const char *run, const char *schema, step_look *look, ts_error *e);
struct forecast;
/* The same, but that the step is foretold: f->reply. */
int run_forecast(const args *a, const char *run, const char *schema, struct forecast *f, ts_error *e);
