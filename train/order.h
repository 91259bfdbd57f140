/* order.h - which examples a step takes: a pure function of seed and step, or as a file says.
 * Nothing is kept from step to step, so a resumed run takes what an uninterrupted one would have. */
#pragma once
#include "train/data.h"

/* Epochs are shuffled by Fisher and Yates: for i from n-1 down to 1, p[i] and p[j] change places,
 * j = random_bits(seed, epoch * 2^32 + i) mod (i + 1). What does not fill a batch at the end is left out. A stream has
 * windows at random places instead. */
typedef struct order {
    int64_t n, batch; /* examples, or places of a stream where a window may begin */
    uint64_t seed;
    bool stream;
    int64_t epoch; /* of `place`; -1: none yet */
    int64_t *place;
    int64_t n_given, *given; /* batches of a file */
} order;
bool order_make(order *o, int64_t n, int64_t batch, uint64_t seed, bool stream, ts_error *e);
/* A line a batch, of 0-based numbers of examples. */
bool order_read(order *o, const char *path, ts_error *e);
void order_free(order *o);
bool order_batch(order *o, int64_t step, int64_t *out, ts_error *e); /* o->batch numbers */
int64_t order_epoch_steps(const order *o);
