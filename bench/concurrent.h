/* concurrent.h - requests in parallel: how many a second, and how long each waits. Every request has a plan and
 * processors of its own, in this process. The model is bound and stays the caller's. */
#pragma once
#include "tessera.h"

struct cJSON;
enum { CONCURRENT_MOST = 256 };
typedef struct concurrent {
    ts_model *model;
    ts_options options;    /* threads: of all requests together; 0: one per core */
    const ts_array *value; /* of each input */
    int n_inputs, requests;
    double seconds; /* to go on for */
} concurrent;

/* A row: "requests", "threads" of each, "seconds", "count", "per_second", "p50_ns", "p90_ns", "p99_ns" (null below 100
 * passes). False with e, also where a result of one request has other bits than that of another. */
bool concurrent_run(const concurrent *c, struct cJSON *rows, ts_error *e);
