/* forecast.h - how long a step in shards would take, and how much memory, on other numbers of ranks: its own kernels,
 * buckets and rounds of messages, with times in the place of work. The step is only read; what is found is its
 * caller's. */
#pragma once
#include "graph/base/js.h"
#include "train/ranks.h"

struct step;
typedef struct forecast {
    int most;    /* ranks */
    double core; /* cores that all of them share; 0: none shares one */
    network net;
    cJSON *reply; /* for cJSON_Delete */
} forecast;
/* ranks/1, for cJSON_Delete: 1, 2, 4, ... ranks, at most as many as there are shards. Kernels take what RUN/step.json
 * says, if it is of this plan, else what the plan predicts. NULL: *e says why. */
cJSON *forecast_make(const struct step *s, const forecast *w, const ts_options *o, const char *run, ts_error *e);
