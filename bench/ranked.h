/* ranked.h - one pass over the processes of a run, again and again: all begin it together and end it together. How long
 * it takes, which of them everybody waits for, how far they are apart. The ranks are the caller's. */
#pragma once
#include "train/ranks.h"

struct cJSON;
typedef struct ranked_pass { /* seconds: with other ranks; of them those in which nothing else was done */
    double exchanged, waited;
} ranked_pass;
typedef struct ranked {
    const ranks *ranks;
    double seconds; /* to go on for */
    bool (*pass)(void *user, ranked_pass *out, ts_error *e);
    void *user;
} ranked;

/* Into out: "count", "p50_ns", "p90_ns" of passes, "slowest", the rank that works longest, "spread", how much longer it
 * does than the quickest (median over the passes), where ranks exchange anything "exchange_ns", "exposed_ns", and
 * "rows": of each rank "rank", "p50_ns", "p90_ns" of its own work and "waits_ns". The same on all ranks. */
bool ranked_run(const ranked *r, struct cJSON *out, ts_error *e);
