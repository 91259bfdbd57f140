/* tune.h - looking for better rules: loops that the cost model ranks first are timed in the model itself, kernel by
 * kernel, in turns with those that there are; a trial is a plan in which every kernel that is tuned has others. What
 * changes the kernels themselves, layouts, fusions, alternatives, is tried one by one, and timed by all kernels that
 * only one of both plans has. Results are compared first. Each trial's outcome is a line of a log before the next one
 * begins, so a second run goes on where the first one ended, and a killed one loses the trial under way.
 * Ownership: models, options and values are borrowed; what is handed out is freed with free().
 *
 * The room:  tune: kernels, rounds -> trial: one plan, timed -> log
 *            families: kernels that are alike    changes: what is not loops    rules: what was found as a schema
 *            ranks: predictions against a log */
#pragma once
#include "graph/base/js.h"

typedef struct tune_options {
    const char *op;     /* a glob: kernels of this operation or name only; NULL: all */
    const char *rule;   /* kernels that this rule of the schema decides; NULL: all */
    const char *folder; /* private: schemas of trials are written there, beside a copy of what they extend */
    const char *schema; /* of the loops that there are: as in ts_options, */
    const char *base;   /* and as a file of that folder extends it */
    const char *log;
    double budget; /* seconds for trials */
    int most;      /* loops to try for a kernel */
    uint64_t seed; /* 0: those that are predicted to be quickest; else drawn at random */
    /* Seconds of each of the n[2] kernels of both plans, which are built and hold their inputs. NULL: both run in
     * turns. */
    bool (*time)(void *user, ts_plan *base, ts_plan *trial, const int n[2], double *seconds[2], ts_error *e);
    void (*progress)(void *user, const char *what, int done, int total);
    void *user;
} tune_options;

/* Tunes a bound model whose inputs have the values given. o: of the loops that there are. *found: a tiling/1 file of
 * at most three rules by which kernels were quicker in a plan of the whole model; NULL: there are none. tune/1 without
 * what follows the search; NULL with e set. */
cJSON *tune_run(ts_model *m, const ts_array *value, const ts_options *plan, const tune_options *o, char **found,
                ts_error *e);
/* What the cost model predicts, as it stands, of the loops in a log of this model, bound as it was: by kernel "nests",
 * "rank", Spearman's correlation with their times, quantiles of predicted over measured time, a tenth of them below
 * "low", and a tenth above "high", and "lost": nests that the kernel cannot have any more; last the rank of "all" of
 * them together. Nothing is built or run, so any machine says the same of the log's. folder: private, as above. NULL
 * with e set. */
cJSON *tune_ranks(ts_model *m, const char *log, const char *folder, ts_error *e);
/* To each kernel of a plan's JSON of which the log of a search on its machine has trials, as "tried": how many, "n",
 * the "best" that was right, and its time over that of the searched "schema", "share". */
bool tune_tried(const char *log, cJSON *plan, ts_error *e);
