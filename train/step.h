/* step.h - the training step as one plan: forward, loss, backward, clipping and update. Parameters are inputs that the
 * step itself rewrites; where the loss or the gradients' norm is not finite it leaves all of them as they were. A step
 * owns its plan and tables, until step_free; the net is the caller's and outlives it. */
#pragma once
#include "graph/base/js.h"
#include "train/net.h"
#include "train/ranks.h"

typedef struct parameter {
    const char *name;
    ts_tensor from;    /* the weight in the model's graph that has its first value; NULL: zeros */
    ts_tensor input;   /* of the step */
    ts_tensor average; /* an input too; NULL: none is kept */
} parameter;
typedef struct slot { /* what an optimizer keeps, named PARAMETER.STATE */
    ts_tensor input;
    int of; /* the weight whose value it begins with; -1: the number below, everywhere */
    double begin;
} slot;

typedef struct step {
    const train_options *asked;
    int64_t total_steps, warmup; /* of the learning rate */
    int n_parameter, n_frozen, n_state;
    int n_weight;         /* parameters, then statistics that follow the batches: all that checkpoints call weights */
    parameter *parameter; /* n_weight */
    slot *state;
    ts_tensor *sum;          /* of each parameter's gradient over batches */
    int64_t trained, frozen; /* elements */
    ts_plan *plan;
    ts_tensor loss, rate;
    ts_tensor *follow;     /* what each statistic becomes */
    ts_tensor last;        /* an input: this batch is the last one of an update; NULL: each is */
    struct shards *shards; /* NULL: the batch is one (shards.h) */
    ts_tensor scale; /* a state: what the loss is multiplied by before gradients are taken; NULL: nothing (scale.c) */
} step;
/* What optimizers call what the option sets; NULL: it sets nothing of theirs. */
const char *step_setting(const char *option);
const char *step_value(const char *settings, const char *name); /* in "beta1=0.9 eps=1e-8"; NULL: it has none */
typedef struct step_span {                                      /* of the learning rate */
    int64_t total, warmup;
} step_span;
/* n: of the examples of one shard. Where there are several, r says who computes which. */
bool step_make(step *s, net *n, const step_span *span, const ranks *r, const ts_options *o, ts_error *e);
/* Weights that other ranks still send have come, between steps, of which none counts the time. */
void step_settle(const step *s);
void step_free(step *s);
bool step_runs(const step *s, ts_error *e); /* ts_plan_runs of those of gradients, on each device; below */
bool step_build(step *s, ts_error *e);      /* ts_plan_build of all of its plans */
/* Fills s->parameter and makes s->loss and s->follow functions of their inputs (parameters.c). */
bool parameters_make(step *s, net *n, ts_error *e);
int64_t parameter_count(ts_tensor t); /* elements */
/* Loss and statistics, which share their forward pass, made again by f. */
typedef bool remaking(ts_graph *g, int n, const ts_tensor *t, const void *user, ts_tensor *out);
bool step_remake(step *s, net *n, remaking *f, const void *user, ts_error *e);
/* Mixed precision, as the options have it (scale.c). The loss with products of halves; its gradients, which are taken
 * of the scaled loss and have the scale taken out again; the states of the scale, given whether gradients were finite
 * and whether the update is done. */
bool precision_known(const train_options *w, ts_error *e);
bool precision_scaled(const train_options *w); /* its loss has a scale */
bool precision_mixed(step *s, net *n, ts_error *e);
bool precision_grad(step *s, net *n, const ts_tensor *in, ts_tensor *grad, ts_error *e);
void precision_states(step *s, net *n, ts_tensor fine, ts_tensor steps, ts_state *state, int *count);
/* What a weight of the model has become: its trained value, or itself with trained factors, or itself. */
ts_tensor parameter_trained(ts_graph *g, ts_tensor leaf, int n, const ts_given *weights);
/* Values at the beginning: the model's, the head's, zeros for the optimizer. */
bool step_begin(step *s, ts_error *e);
bool step_load(step *s, const ts_tensors *weights, const ts_tensors *optimizer, ts_error *e);

typedef struct step_result {
    bool stop;             /* some rank is to end: given, and then so on all of them */
    double loss, norm, lr; /* loss: the mean of all batches of the update so far */
    double scale;          /* of the loss, that this step used; 0: none */
    double *norms;         /* n_parameter: of --grad-norms, and of a step that is not finite */
    double *kernels;       /* seconds of each kernel, if asked for; n_kernel */
    int n_kernel;
    double exchanged, waited; /* seconds: with other ranks; of them those in which nothing else was done */
    /* By bucket of gradients, in the order in which they went to other ranks: before which kernel of the last pass;
     * INT_MAX: behind all. The step's own */
    const int *sent;
    int n_sent;
} step_result;
/* The part of an optimizer that is the same for all parameters, or vectors of them. */
typedef struct step_optimizing {
    int n, n_rule;
    const ts_tensor *parameter, *grad;
    double clip;
    const ts_rule *rule;
} step_optimizing;
bool step_optimize(step *s, net *n, const step_optimizing *of, ts_updates *out, ts_error *e);
bool step_decays(const train_options *w, ts_tensor t);
/* One batch, the `at`-th of the run from 0; the last of every asked->accumulate batches updates. After a number that is
 * not finite the update is over, and nothing has changed. */
bool step_run(step *s, const net *n, const ts_array *batch, int64_t at, step_result *r, ts_error *e);
/* The same in parts, if s->shards: each of this rank's shards, number of all shards of the run; then what follows of
 * those of all ranks. */
bool step_shard(step *s, const net *n, const ts_array *batch, int64_t number, step_result *r, ts_error *e);
bool step_join(step *s, int64_t at, step_result *r, ts_error *e);
/* After a step that was not finite: it is gone through again, and its state stays as it is; see ts_plan_strays. */
bool step_strays(step *s, ts_stray *nan, ts_stray *infinite, ts_error *e);
/* All state as named tensors, n_weight weights, then n_state others: for checkpoints. The list is the caller's, free
 * it; the values are borrowed until the step runs again. In shards the others have no data here. */
ts_given *step_state_make(step *s, ts_error *e);
/* Of the list, rank 0: bytes of the k-th of the others, from there on, until the next call; NULL with e set. The other
 * ranks have their parts of it: all call step_state_done, in which they send what is asked for until rank 0 does. */
const void *step_state_part(step *s, const ts_given *all, int k, size_t from, size_t n, ts_error *e);
bool step_state_done(step *s, ts_error *e);
/* n_weight weights to be used: averages where they are kept; as above */
ts_given *step_trained_make(step *s, ts_error *e);
/* The first of them that holds something else than numbers; NULL: none does. */
const ts_given *step_bad(const ts_given *all, int n);
bool step_give(ts_plan *p, const char *name, const ts_array *a, ts_error *e); /* what a plan does not need is not set */
cJSON *plan_facts(ts_plan *p, ts_error *e); /* ts_plan_json of it, for cJSON_Delete; NULL: *e says why */
/* What a step takes, for cJSON_Delete: "bytes" for weights, what the optimizer keeps, gradients and all other values,
 * as planned; "alive_bytes" with the largest set of values that are alive at once instead; "recompute" and "notes" as
 * in plan/1 (step_facts.c). NULL: *e says why. */
cJSON *step_facts(const step *s, ts_error *e);
/* What a rule of "recompute" saves and costs, in a line. */
void step_saving(const cJSON *saving, char *out, size_t n);
