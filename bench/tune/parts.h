/* parts.h - what the files of tuning share: kernels that are alike, and what became of loops that were tried for them.
 * All of it is tune_run's, and lasts as long. */
#pragma once
#include "bench/tune/tune.h"
#include "graph/base/base.h"

enum { LOG_MOST = 64 << 20 }; /* bytes of a log that is read */
enum { MOST_RULES = 3, SAID = sizeof((ts_error *)0)->text };

typedef struct family { /* kernels of one operation, dtype and extents; or all of an operation */
    char *key;          /* "matmul f32 m=128 n=384 k=384", "all matmul" */
    bool all;
    const cJSON *first; /* of them, in the plan's JSON; of all: what they have in common, owned */
    int n, *kernel;     /* their numbers */
    double seconds;     /* all of them together, with the loops that there are */
    bool tuned;         /* else it is only known to be there */
    cJSON *nests;       /* that ts_plan_nests gives; owned */
    const cJSON *next;  /* of these: not tried yet */
    cJSON *others;      /* changes that are no loops, as objects with "change" and what is foreseen; owned */
} family;

typedef struct tuner {
    ts_model *model;
    const ts_array *value;
    ts_options plan;
    const tune_options *o;
    ts_plan *base;
    cJSON *json; /* of the base */
    int n_kernel, n_output;
    ts_array *output; /* of the base */
    int n_family;
    family *family;
    cJSON *log; /* records, one an attempt: kernel, loops, status, times */
    int fd;     /* of the log's file; -1: none is kept */
    int trials;
    double total; /* seconds of a pass of the base, kernel by kernel */
    int n_seen;
    double *seen; /* [n_seen][n_kernel], seconds of the base's kernels in each timing */
} tuner;

typedef struct attempt { /* what rules say of a family in a trial */
    family *of;
    const cJSON *change; /* members of a rule: loops alone, or others */
    double predicted;    /* seconds; 0: not asked for */
    double time, base;
    const char *status; /* "correct", "refused", "wrong"; NULL: not known yet */
    char why[SAID];
} attempt;

/* families.c: of the base's kernels, which take so many seconds each, most time first; NULL: in the plan's order. */
void families_find(tuner *t, const double *seconds);
void families_free(tuner *t);
/* Spearman's rank correlation of predicted and measured times of what was tried; NAN of fewer than five.
 * f NULL: of all. */
double family_rank(const tuner *t, const family *f);

/* trial.c: the base's plan, not built. */
bool trial_base(tuner *t, ts_error *e);
bool trial_inputs(const tuner *t, ts_plan *p, ts_error *e); /* given to it */
bool trial_followed(const cJSON *kernel, int i);            /* the rule of attempt i decided it */
/* n attempts in one plan, in parts where it cannot be; every one gets its status, and they are logged. */
bool trial_run(tuner *t, int n, attempt *of, ts_error *e);
/* A plan by a schema's text, built, with its inputs and right results, timed beside the base: seconds of the kernels of
 * both, to be freed. False, e having no error: a wrong one, for the reason said. */
bool trial_by(tuner *t, const char *schema, double *seconds[2], cJSON **json, char why[SAID], ts_error *e);
/* Keeps a timing of the base's kernels, and gives of each what is usual where this was more: a trial in which the base
 * was disturbed shows nothing. */
void trial_usual(tuner *t, double *seconds);
ts_plan *trial_plan(tuner *t, int n, const attempt *of, cJSON **json, ts_error *e); /* not built; json: its own */

/* changes.c: candidates of a family, of which changes_foresee drops those that change nothing or were not planned when
 * it was time. The next that was not tried and promises most; false: there is none. */
char *changes_text(const cJSON *change); /* loops as they are written, else JSON; NULL: of none */
void changes_find(const tuner *t, family *f);
void changes_foresee(tuner *t, double until);
bool changes_next(tuner *t, attempt *of);
/* Seconds of the base's kernels and of the plan's that the other one does not have, NULL being what is predicted; made,
 * unless NULL: gets the latter as text. */
void changes_compare(const tuner *t, const cJSON *plan, double *const seconds[2], double sum[2], text *made);

/* log.c: false: it cannot be read or written, or is another search's. */
bool log_open(tuner *t, ts_error *e);
bool log_read(tuner *t, ts_error *e);                          /* and nothing is added to it */
bool log_add(tuner *t, int n, const attempt *of, ts_error *e); /* in one piece; also to t->log */
const cJSON *log_find(const tuner *t, const char *kernel, const cJSON *change);
double log_ratio(const cJSON *one); /* time with the change over time without; INFINITY: not known, or not right */
double log_saved(const cJSON *one); /* seconds, by that; 0: not known, below: none */
/* What was quickest of a kernel's that was right, if only by comparison; NULL: nothing was. */
const cJSON *log_best(const tuner *t, const char *kernel, int *tried, int *right);

/* rules.c: what was found as rules over ranges of extents, most saved time first; of them, as JSON objects with "name",
 * "match", "change" and "saved_ns". */
cJSON *rules_find(const tuner *t);
char *rules_text(const tuner *t, const cJSON *rules);
