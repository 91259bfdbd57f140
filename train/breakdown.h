/* breakdown.h - where the time of a training step goes: some steps of the run go kernel by kernel, so that what is told
 * is the run itself and costs it nothing. Kept as RUN/step.json, a step/1 text, which `tessera report` reads as it
 * reads results. Times and text are its own until breakdown_free; the plan is borrowed for the call. */
#pragma once
#include "graph/base/js.h"
#include "train/options.h"

enum { BREAKDOWN_MOST = 40 }; /* steps: 1, 2, 4, ... 2^39 */
typedef struct breakdown {
    int n_kernel, n, threads;
    double *seconds;              /* [sample][kernel] */
    double whole[BREAKDOWN_MOST]; /* seconds of each sampled step */
    char *plan;                   /* plan/1 of the step; NULL: nothing is kept */
} breakdown;
/* The plan has been built. */
bool breakdown_make(breakdown *b, ts_plan *p, const ts_options *o, ts_error *e);
void breakdown_free(breakdown *b);
/* Where the times of the i-th step (from 1) of this process go: NULL for most, which run as a whole. */
double *breakdown_row(breakdown *b, int64_t i);
void breakdown_add(breakdown *b, double seconds); /* the row given last is filled in: the whole step took this */
/* Writes RUN/step.json if there are samples. parts: runs of the plan that make one step. probe: measures the
 * ceilings of the machine, about a second. */
bool breakdown_write(const breakdown *b, const char *run, const train_options *w, int64_t parts, bool probe,
                     ts_error *e);
