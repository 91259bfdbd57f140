/* metrics.h - metrics.jsonl as numbers: what a run said of its steps.
 * metrics_free frees the arrays. */
#pragma once
#include "tessera.h"

/* Numbers that a row lacks are NAN. Steps count from 1. rate: tokens a second, or examples; memory in bytes. */
typedef struct metric {
    double step, epoch, loss, norm, lr, ms, rate, memory;
    bool skipped;
} metric;
typedef struct trial { /* an evaluation after `step` */
    double step, loss, accuracy, n;
} trial;
typedef struct metrics {
    int n, n_trial, n_skipped;
    metric *of;
    trial *trial;
} metrics;
/* Rows that are no JSON objects count for nothing. */
bool metrics_read(metrics *m, const char *run, ts_error *e);
void metrics_free(metrics *m);

/* Evaluations so far. The best has the highest accuracy and, of those, the least loss; of equals it is the first. */
typedef struct course {
    trial best, last; /* step 0: none yet */
    int since;        /* evaluations after the best */
} course;
void course_add(course *c, const trial *one);
course metrics_course(const metrics *m);
