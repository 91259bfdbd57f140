/* checkpoint.h - the state of a run on disk: checkpoints/step-00000040/ with weights.safetensors, optimizer.safetensors
 * and state.json, which names the SHA-256 of both and ends with its own. A folder gets its name when all of it is on
 * disk, so what has the name is whole; what was damaged later is found by its sums, and the one before it is used. What
 * was loaded is the checkpoint's until checkpoint_free; what is saved is borrowed for the call. */
#pragma once
#include "graph/base/js.h"
#include "train/files.h"

typedef struct checkpoint {
    int64_t step; /* steps done */
    ts_tensors *weights, *optimizer;
    char path[4096];
    char note[1024]; /* what was wrong with newer ones; "" */
} checkpoint;
typedef struct checkpoint_set {
    int n_weight, n_optimizer;
    const ts_given *weight, *optimizer;
    ts_tensors_part *part; /* of the optimizer's, which need have no data */
    void *user;
} checkpoint_set;
/* Beside the newest `keep`, that of step `best` stays; 0: there is none. */
bool checkpoint_save(const char *run, int64_t step, const checkpoint_set *all, int64_t keep, int64_t best, ts_error *e);
/* Whether the disk has room for what is to be saved, `saves` times: size bytes each, of which keep stay and one more is
 * there while it is written. True where the system does not tell. */
bool checkpoint_fits(const char *run, int64_t size, int64_t saves, int64_t keep, ts_error *e);
/* The newest that is whole; *found false when there is none at all. */
bool checkpoint_load(const char *run, checkpoint *out, bool *found, ts_error *e);
bool checkpoint_at(const char *run, int64_t step, checkpoint *out, ts_error *e); /* that one */
void checkpoint_free(checkpoint *c);
