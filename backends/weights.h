/* weights.h - the weights of a plan as its program reads them: where they lie, or packed into the layouts that the plan
 * gives them. Seeded ones are drawn; those computed from others are computed by the back end itself, once, the largest
 * first, so that the memory which that takes is gone before the rest is there. Pages of mapped files go once copied.
 * What is packed or drawn is of weights until weights_free; all others are where the plan has them, which outlives
 * that. */
#pragma once
#include "backends/derived.h"

typedef void weight_work(void *arg, int part, int parts);
typedef struct weight_host { /* what a back end does for it */
    const backend *by;
    const build_options *asked;
    /* Calls work with all parts, and waits for them; NULL: it is one part. */
    bool (*spread)(void *user, weight_work *work, void *arg, err *e);
    /* Takes a packed weight of so many bytes to where the program reads it; NULL: it is read where it was packed. */
    bool (*upload)(void *user, int leaf, const void *packed, size_t bytes, err *e);
    void *user;
    deriver *deriver; /* NULL: one is made for the call */
} weight_host;

typedef struct weights {
    void **at;    /* by leaf of the plan; with upload: NULL */
    char *packed; /* mapped */
    size_t bytes; /* of them */
} weights;
bool weights_load(weights *w, const plan *p, const weight_host *h, err *e); /* w to be freed either way */
void weights_free(weights *w);
/* One of them alone, whatever it takes; d: for one that is computed from others. */
void weight_pack(const packed *w, deriver *d, void *to);
