/* suite.h - a fixed list of races, which need no file, as one suite/1 document: what is kept for a version and a
 * machine, and compared with the next. Each race is a results/1 document without kernels and plans. Texts are the
 * caller's, for free(). Nothing here prints. */
#pragma once
#include "bench/bench.h"

typedef struct suite {
    bench_options each; /* of every race: machine, times, seed, python, progress; the rest is the list's */
    bool quick;         /* one short launch, by all cores, judged by target c: to see that all works, not to compare */
    int n_only;         /* names as globs; none: all */
    const char *const *only;
    const char *earlier; /* suite/1 with the same options, whose races are not measured again; NULL: none */
    bool (*keep)(void *user, const char *json, ts_error *e); /* after each race: all so far; may be NULL */
    void *user;
} suite;

/* A race that cannot be run is kept with its error, and the others go on. False with e where none can be: mistakes in
 * options. After a signal *out is what was measured until then and *signal is it, for the caller to raise; else 0. */
bool bench_suite(const suite *s, char **out, int *signal, ts_error *e);
bool suite_failed(const char *json); /* a race that could not be run, or a candidate that is INVALID */
/* Race by race, of the same names and threads, as bench_compare has it: one comparison/1. */
bool suite_compare(const compare_options *o, char **out, ts_error *e);
