/* explore.h - what the page of `tessera explore` is filled with: the model's nodes with the boxes and layers that they
 * are folded into, each plan's kernels, and what a race measured of them. Everything is only read. */
#pragma once
#include "graph/base/base.h"
#include "graph/base/js.h"

typedef struct explored { /* a plan of the model, and what a race says of it */
    ts_plan *plan;
    const char *name;
    const cJSON *measured; /* the candidate in results/1; NULL: nothing was measured */
} explored;

/* Appends the data as JSON; results: of the race, or NULL. */
bool explore_data(text *t, ts_model *m, int n, const explored *of, const cJSON *results, ts_error *e);
