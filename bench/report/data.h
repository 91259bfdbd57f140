/* data.h - a results/1 document as the report reads it, or a step/1 one: the same with less.
 * Every field but the candidates' names may be missing: a missing number is NAN, a missing text "", a missing list
 * has n 0, so the sections need no other case. Times are nanoseconds, sizes bytes, shares 1 = 100 %. All texts are
 * foreign. Everything points into the report's JSON tree or its own memory and dies with report_free. */
#pragma once
#include "graph/base/base.h"
#include "graph/base/js.h"
#include "tessera.h"

#include <cjson/cJSON.h>
#include <locale.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    MAX_CONTESTANTS = 64, /* candidates and peers that are read */
    MAX_CHARTED = 6,      /* that have a mark of their own and appear in charts */
    MAX_COMPARISONS = 256
};

typedef struct stats {
    double n, min, median, p90, low, high; /* low, high: 95 % interval of the median */
} stats;

typedef struct launch {
    int n;
    double *ns, *canary;
    bool *flagged;
    int aside;
} launch;

typedef struct level { /* one loop of a nest */
    const char *loop, *level;
    double trips, bytes, share; /* the working set of one trip, and its part of the level's capacity */
} level;

typedef struct tile { /* of the innermost loops, as plan/1 has it; NAN where it is not said */
    double lanes, lanes_of, sums, sums_of, multiply_adds, loads, cores;
} tile;

typedef struct kernel {
    const char *name, *op, *rule, *loops, *dtype, *bound; /* bound: "fma", or the ceiling of bytes that holds it back */
    const char *by; /* the way that op is gone, of which this kernel may be a part: "Strassen"; "" */
    double work;    /* operations of op as the model says it */
    double calls, ns, flops, bytes, peak_share; /* ns, flops, bytes: of all calls in one pass */
    double traffic[3];                          /* bytes into L1, L2, L3 from outside, estimated, of one call */
    double waste;                               /* work of full tiles over real work, less 1 */
    tile tile;
    bool guessed; /* the loops that its rule gives were refused, and "guess" was taken */
    const cJSON *json;
    int n_level;
    level *levels;
    const cJSON *notes;
} kernel;

typedef struct buffer {
    const char *name;
    double bytes, offset, first, last; /* alive from kernel `first` to kernel `last` */
} buffer;

typedef struct contestant {
    const char *name, *status, *reason, *version;
    const char *mark; /* HTML: its mark in charts and its name */
    bool valid, peer;
    stats stats;
    int n_launch, n_sample, n_flagged; /* samples that count */
    int n_aside;                       /* and that do not */
    launch *launches;
    double *sorted; /* all samples, ascending */
    int n_kernel, n_guessed;
    kernel *kernels;
    double kernel_ns, gap_ns; /* in kernels; median minus that */
    double timed_share;       /* of the median, what kernels took one by one; theirs above are in proportion */
    double peak_bytes, arena_bytes, lower_bound_bytes;
    int n_buffer;
    buffer *buffers;
    double max_abs, max_rel, tolerance;
    const cJSON *json;
} contestant;

/* Kernels that are one thing repeated (the same projection in twelve layers), or go another way to it: equal op,
 * work and name up to its digits. */
typedef struct part {
    int count;                    /* of the things, each of which may be several kernels */
    const char *by;               /* the way of the heaviest; "" */
    double ns, bytes, peak_share; /* sums; the share is weighted by time */
    const kernel *heaviest;       /* NULL when this contestant has none of the kind */
} part;
typedef struct kind {
    const char *name, *op; /* name: digits that differ are shown as "*" */
    const char *shown;     /* HTML: name, how many there are, op */
    double flops;          /* of one, as the model says it */
    bool same;             /* both of the explained pair run it with the same loops and layouts */
    part of[MAX_CHARTED];
} kind;

/* The time of the explained pair (or of the best candidate alone), per rule where the schemas name the same ones,
 * else per op. */
typedef struct group {
    const char *name;
    bool same; /* of kernels that are the same in both: what differs is not the schema's doing */
    double fast, slow;
    const kernel *fast_kernel, *slow_kernel; /* the heaviest ones, or NULL */
} group;
typedef struct groups {
    const char *by;              /* "rule" or "op" */
    int n, differing;            /* the first `differing` ones are not the same */
    group *of;                   /* by difference, the largest first */
    int n_same;                  /* kernels of the best that are the same */
    double fast_same, slow_same; /* and their times */
} groups;

typedef struct pairing {
    const char *a, *b, *word;
    int ia, ib; /* contestants, or -1 */
    double ratio, low, high, detectable, threshold;
    double a_error, b_error; /* where accuracies differ, else NAN */
} pairing;

typedef struct report {
    cJSON *root, *view; /* view: what all sections say, view_make's */
    const cJSON *environment, *ceilings, *config;
    int n; /* contestants: candidates first, in the order of the file, then peers */
    contestant of[MAX_CONTESTANTS];
    int charted; /* the first so many contestants have marks */
    int n_left;  /* contestants and comparisons that were not read */
    int n_comparison;
    pairing comparisons[MAX_COMPARISONS];
    int n_kind;
    kind *kinds;          /* by time, the heaviest first */
    int best;             /* the fastest valid candidate, or -1 */
    int fast, slow;       /* the pair that "where" and "why" explain: charted candidates, or -1; fast is the best */
    const pairing *match; /* the comparison of that pair, or NULL */
    groups groups;
    arena mem;
    locale_t before; /* the caller's; numbers are read and written with points until report_free */
} report;

/* Groups the kernels of the charted contestants into r->kinds, and the pair's into r->groups; part of report_read. */
void report_kinds(report *r);

typedef struct ranked { /* a kind, and its time */
    const kind *k;
    double ns;
} ranked;
/* All kinds by the time that contestant c takes for them, less that of another one (-1: of none), whichever sign that
 * has, the most first; for free(). */
ranked *kinds_ranked(const report *r, int c, int less);

bool report_read(report *r, const char *results_json, ts_error *e);
void report_free(report *r);

double result_number(const cJSON *object, const char *key); /* NAN where missing or not finite */

bool kind_ways_differ(const report *r, const kind *k); /* the explained pair computes it in two ways, both known */
bool kernel_same(const kernel *a, const kernel *b);    /* loops and layouts, whatever their names */
const char *report_source(const report *r);            /* of the ceilings: "stated" by the device, or "probed" here */
double report_peak(const report *r);                   /* GFLOP/s of multiply-adds in the dtype of the kernels; NAN */
const char *report_model(const report *r);             /* the model's name, or "a model" */
/* A file's name without its folders; of a name that says little, as model.onnx, with the folder it is in. */
const char *path_name(const char *path);
