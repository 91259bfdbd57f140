/* session.h - what verbs that work on a model share: their options, the model with its dimensions bound, the inputs
 * given. A session stays where it was opened (progress points into it) and is closed whatever became of it. It owns the
 * model and the values; the command line is borrowed for its life, a plan is the caller's. */
#pragma once
#include "cli/args.h"
#include "bench/bench.h"
#include "graph/base/js.h"

typedef struct session {
    const args *args;
    ts_model *model;
    ts_options options; /* from --target, --schema, ... */
    int n_inputs;
    ts_array *value;     /* of each input; data is NULL where not given; owned */
    const char **source; /* the file of each input, or NULL */
    progress progress;
} session;

extern const option_group session_model_options;                      /* --dim, --in, --from, --to */
extern const option_group session_dim_options;                        /* --dim */
extern const option_group session_limit_options;                      /* of reading a file that may be hostile */
extern const option_group session_plan_options;                       /* --target, --threads, --isa, ... */
extern const option_group *const session_model_groups[];              /* of a verb: model, limits, plan */
extern const option_group *const session_plan_groups[];               /* the plan alone */
extern const option_group *const session_dim_groups[];                /* --dim and limits */
void session_plan_usual(const option *o, char out[OPTION_TEXT_MOST]); /* of --target, as option_group.usual */

/* The model named by `what` under the --limit options; nothing is bound yet. */
ts_model *session_model_make(const args *a, const char *what, ts_error *e);
/* The same; reads the files of --in, binds dimensions. */
bool session_open(session *s, const args *a, const char *what, ts_error *e);
/* With one dimension more, "seq=77"; within its range, if it has one. */
bool session_open_at(session *s, const args *a, const char *what, const char *at, ts_error *e);
/* Binds dimensions as --dim says where the model need not be bound: dimensions that nobody mentions and values that
 * come later are no error. */
bool session_attempt(ts_model *m, const args *a, ts_error *e);
/* A dimension is a range: then the plan is one for all extents within. It is made of the model bound anew. */
bool session_varies(const session *s);
ts_plan *session_varying_make(session *s, ts_error *e);
/* Of all extents of the ranges, if there are any and no shape waits for a value; else of the model as it is bound. */
ts_plan *session_plan_make(session *s, ts_error *e);
/* Notes of what a person should know of a plan, and of how its program was made: a rule whose loops are refused, a
 * cache that cannot be written; where the time went, in reply too unless it is NULL. */
void session_tell(const session *s, ts_plan *p, cJSON *reply);
/* Makes values for inputs that were not given: by seed, so the same everywhere. */
bool session_fill(session *s, uint64_t seed, ts_error *e);
bool session_feed(const session *s, ts_plan *p, ts_error *e); /* gives a plan of the model all values */
/* Fails, naming them, if inputs are missing. One without elements is not: nobody has to write down its only value. */
bool session_require(session *s, ts_error *e);
void session_close(session *s);
/* The plan options alone, without a model; and the schema, of verbs that take one. */
ts_options session_options(const args *a);
bool session_whole(const args *a, ts_error *e); /* --from and --to, which that has none of, are refused */
/* A race of the model and on the machine that the options say; session_contest_free releases its lists. */
bench_options session_contest(const args *a);
void session_contest_free(bench_options *o);
