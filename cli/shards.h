/* shards.h - a model run over parts of its batch: --shards N, each on one of the devices of --target. A shard is
 * a run of the model at its share of the batch, so bits depend on the number of shards, and not on who computes which.
 * Where the model is cut over the devices, by rules or because one cannot hold it, shards go through them as a
 * pipeline. The session is bound anew, at a shard; its values stay the whole ones, and are the caller's. */
#pragma once
#include "cli/session.h"

typedef struct shard_run {
    session *session;
    int n, n_plan, n_output;
    int first, count; /* what is run of them */
    bool *cut;        /* by input: it has the batch */
    ts_plan **plan;   /* of each device, or one of all */
    ts_array *out;    /* of each output, whole */
} shard_run;

/* Binds, plans and makes room for results; the inputs have their values. Whatever came of it, shard_run_free. */
bool shard_run_make(shard_run *r, session *s, int n, ts_error *e);
/* Of `count` shards from `first` alone, of which each plan has as many as another, or one less */
bool shard_run_some(shard_run *r, int first, int count, ts_error *e);
/* r->out has the results. traced: a file for the trace of a pipeline, or NULL */
bool shard_run_all(shard_run *r, const char *traced, ts_error *e);
void shard_run_free(shard_run *r);
