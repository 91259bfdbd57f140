/* worker.h - shared by the files of a contestant of ours: bench/worker.c has its life.
 * One worker is one process, whose end frees what it holds. */
#pragma once
#include "train/timed.h"

#include <cjson/cJSON.h>

enum { PATH_SIZE = 4096 }; /* bytes, PATH_MAX */

typedef struct worker {
    cJSON *task;
    timed_step *step; /* of training, whose plan it is then; NULL: a pass of the model */
    ts_model *model;
    ts_plan *plan;
    int n_inputs, n_outputs;
    ts_array *values;         /* of each input */
    char (*paths)[PATH_SIZE]; /* where they were read from or written to; "" where nowhere */
    bool planned;             /* planning has begun */
    double seconds[4];        /* reading, binding, planning, building */
} worker;

cJSON *worker_facts(worker *w, ts_error *e); /* the members of READY (bench/protocol.h) */
