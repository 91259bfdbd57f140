/* run_folder.h - the folder of a run: run.json (what was asked for, and of what) and a copy of it, metrics.jsonl (a
 * line an update), checkpoints/, report.html, and a lock that lets one process train in it. A run owns the open folder
 * and its lock, until run_close. */
#pragma once
#include "train/options.h"

typedef struct run_folder {
    const char *path;
    int lock, metrics; /* descriptors; -1: none */
} run_folder;
/* What a run is of, beside the options. */
typedef struct run_facts {
    char model[65], data[65], order[65]; /* SHA-256 of the files; "" for built-in models and where there is none */
    char numbers[65],
        tokens[65]; /* of the model with the files beside it, and of the data as tokens; "" in older runs */
    /* Of the plan, as ts_options has them: bits depend on both, on threads they do not. target "" in older runs; isa
     * "": the best there is. */
    char target[512], isa[32];
    bool redrawn; /* an older run, whose random numbers are no longer made */
    int64_t classes, steps, total_steps, warmup, batch_steps; /* batch_steps: of an epoch */
} run_facts;

bool run_is(const char *path);                  /* it holds a run */
bool run_is_new(const char *path, ts_error *e); /* false, and it says so: there is a run already */
/* Makes the folder and keeps others out of it. fresh: and there must be no run yet. */
bool run_lock(run_folder *r, const char *path, bool fresh, ts_error *e);
void run_close(run_folder *r);
bool run_write(const run_folder *r, const train_options *w, const run_facts *f, ts_error *e);
/* *found false when the folder holds no run. Where run.json is damaged its copy is read, and note says so; else "". */
enum { RUN_NOTE = 400 };
bool run_read(const char *path, train_options *w, run_facts *f, bool *found, char note[RUN_NOTE], ts_error *e);
/* Opens metrics.jsonl for appending; rows of updates from `step` on go to metrics.rolled-back.jsonl, as do damaged
 * lines, of which *damaged is the number: a torn last one is none. */
bool run_metrics(run_folder *r, int64_t step, int64_t *damaged, ts_error *e);
bool run_row(run_folder *r, cJSON *row, ts_error *e); /* takes row */
