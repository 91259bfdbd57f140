/* sweep.h - one race at each point of a grid of extents and threads, as one sweep/1 document: who wins where.
 * Texts are the caller's, for free(). Nothing here prints. */
#pragma once
#include "bench/bench.h"

typedef struct sweep {
    int n;
    const char *const *axes; /* "seq=32,64", "threads=1,2": the first is what curves go along */
    const char *earlier;     /* sweep/1 of the same sweep, whose points are not measured again; NULL: none */
    bool (*keep)(void *user, const char *json, ts_error *e); /* after each point: all so far; may be NULL */
    void *user;
} sweep;

/* False with e where a point cannot be raced. After a signal *out is what was measured until then and *signal is it,
 * for the caller to raise; else 0. */
bool bench_sweep(const bench_options *o, const sweep *s, char **out, int *signal, ts_error *e);
