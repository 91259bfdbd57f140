/* driver.h - what the files of the driver share: a plan with its values, and ways to run it.
 * A ts_plan owns its plan, program, texts and the arrays in given and old; the model or graph that it was made from
 * stays the caller's and has to outlive it. */
#pragma once
#include "backends/sites.h"

/* An input that goes on from run to run (ts_append): the model's own says the shape, another one is the buffer. */
typedef struct growth {
    const node *past, *buffer;
    int told, at, axis; /* inputs of the plan; along which it grows */
    int64_t n;          /* by so much */
} growth;

typedef struct merge merge; /* a value that goes from plan to plan. merge.c */

struct ts_plan {
    arena mem; /* of on */
    graph_user graph;
    enum { NOT_RUN, RUN_FAILED, RAN } last; /* results are those of a run that came to its end */
    const target *on;
    const char *device; /* or devices, as the command names them */
    int64_t runs;       /* that came to their end */
    merge *comes, *goes;
    char *cache_folder, *schema;
    build_options asked;
    phases phases;
    const backend *target; /* that the command names, the first one */
    const backend *by;     /* what runs the plan: the target, or several together */
    site_search sites;
    plan *plan;
    program *program;
    text facts;
    bool assembled; /* facts have what an assembler says, or why none does */
    bool trimmed;
    int n_port;            /* of the model: inputs by their number there */
    int *input_of;         /* plan input of a port, or -1 when nothing needs it */
    const preset **preset; /* of a port: the only value that it may have; or NULL */
    const char **output;   /* names of the model's outputs, its own; NULL: the plan is of tensors */
    ts_array *given;       /* per plan input, told ones behind; of one with varying dimensions: at their bounds */
    bool *lent;            /* of given: whose memory is the caller's */
    int64_t *said;         /* per plan input, MAX_RANK each: the extents of the value that was given, where they vary */
    int64_t extent[MOST_VARIABLES]; /* of the run */
    /* Of variables that are the value of an input: its port, or -1; what it was given, 0: nothing yet */
    int counted[MOST_VARIABLES];
    int64_t count[MOST_VARIABLES];
    held_inputs *held;   /* of given; NULL: nothing is held elsewhere */
    int at, from, to;    /* done of the run; of those done since the mark, the first and the end */
    int n_grown, places; /* places: the input that says where new elements go */
    growth *grown;
    ts_array *old; /* per root: what an input that is a root, and becomes something else, was before the run */
};

/* There is a plan, and its graph is too; every call of tessera.h on plans asks this first. */
bool driver_stands(const ts_plan *p, err *e);
/* plan_memory.c. limits: ts_options.mem_limit; whether they are sizes of the plan's devices */
bool driver_fits(const plan *p, const char *limits, err *e);
bool driver_limits(const char *limits, const plan *p, err *e);
/* A plan of which runs say some extents; the model is bound at the largest. */
ts_plan *driver_make(ts_model *m, const variables *v, const ts_options *o, err *e);
/* varying.c: copies a value of an input with varying dimensions to where the plan has it, which is at their bounds;
 * finds the extents of the run, on which all inputs must agree; a result as it is at these. */
bool varying_give(ts_plan *p, int k, const ts_array *value, err *e);
bool varying_agree(ts_plan *p, err *e);
/* Inputs whose value is a variable: finds them; which variable it is, or -1; takes its value. */
void varying_count_ports(ts_plan *p, ts_model *m);
int varying_counted(const ts_plan *p, int port);
bool varying_count(ts_plan *p, int v, const ts_array *value, err *e);
bool varying_get(ts_plan *p, int root, ts_array *out, err *e);
bool varying_value(const ts_plan *p, int k, ts_array *out, err *e); /* of an input, as it was given */
/* appending.c: the model's outputs, to be freed, and behind them what inputs that go on become; NULL: they cannot.
 * Finds them among the plan's; which input has the value of input k; where new elements go; how long all is then. */
const node **appending_roots(ts_model *m, const ts_options *o, growth *to, err *e);
void appending_begin(ts_plan *p);
int appending_home(const ts_plan *p, int k);
bool appending_places(ts_plan *p, err *e);
void appending_end(ts_plan *p);
bool driver_bring(const ts_plan *p, int k, err *e); /* p->given[k] has the newest value of that input */
bool driver_takes(const ts_plan *p, int input, const ts_array *value,
                  err *e);              /* a value of that input, of constant extents */
void driver_changed(ts_plan *p, int k); /* it has another one than the device */
/* The value of each plan input, in p->given, and behind them the extents of the run, of as many elements as there are
 * inputs and one; an error names an input that has none. */
bool driver_gather(ts_plan *p, void **input, err *e);
bool driver_value(ts_plan *p, int root, ts_array *out, err *e);     /* row-major, at the plan's extents */
bool driver_copy(ts_array *to, const ts_array *from, err *e);       /* makes `to` if it holds nothing */
bool driver_give(ts_plan *p, int n, const ts_given *given, err *e); /* to inputs by their names, all of them known */
/* Before a run: roots that are inputs which it changes. After it: states that it could not write in place */
bool driver_keep_old(ts_plan *p, err *e);
bool driver_carry_over(ts_plan *p, err *e);
typedef struct tracer { /* of runs: who is told of spans, since `start`. watch.c */
    ts_plan *p;
    void (*seen)(void *user, const ts_span *s);
    void *user;
    double start;
} tracer;
span_seen tracer_tell; /* user: the tracer */
bool tracer_run(tracer *t, err *e);
/* merge.c. Before a run: whether what the last one made was read; what others made comes to the inputs; it was read.
 * merges_leave: whether input k of the plan may be set. merges_none: neither takes nor gives. merges_say: objects for
 * the ledger, of an input or an output; the other is -1 */
bool merges_await(ts_plan *p, err *e);
bool merges_take(ts_plan *p, err *e);
void merges_read(ts_plan *p);
bool merges_leave(const ts_plan *p, int k, err *e);
bool merges_none(const ts_plan *p, err *e);
void merges_say(const ts_plan *p, int input, int output, text *out);
void merges_end(ts_plan *p);
void show_pass(void *user, const plan *p, int pass); /* to ts_options.passed; user: the options. show.c */
/* As ts_plan_run, with another way through the program. */
typedef bool driver_way(ts_plan *p, void *const *input, void *user, err *e);
bool driver_run(ts_plan *p, driver_way *go, void *user, err *e);
