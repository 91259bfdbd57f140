/* step.h - the training step as one plan: forward, loss, backward, clipping and update. Parameters are inputs that
 * the step itself rewrites; where the loss or the gradients' norm is not finite it leaves all of them as they were. */
#ifndef TRAIN_STEP_H
#define TRAIN_STEP_H
#include "bench/train/net.h"

enum { MOST_STATES = 4 };
typedef struct param {
    const char *name;
    ts_tensor from;  /* the weight in the model's graph that it stands for */
    ts_tensor input; /* of the step */
    bool decays;
    int n_state; /* moments of the optimizer and the like */
    ts_tensor state[MOST_STATES];
    const char *state_name[MOST_STATES]; /* "adam_m/NAME" */
} param;

typedef struct step {
    const train_wish *wish;
    int64_t total_steps, warmup; /* of the learning rate */
    int n_param, n_frozen;
    param *param;
    int64_t trained, frozen; /* elements */
    ts_plan *plan;
    ts_tensor loss, norm;
    ts_tensor *square; /* of each parameter's gradient, summed */
} step;
bool step_make(step *s, net *n, int64_t total_steps, int64_t warmup, const ts_options *o, ts_error *e);
void step_free(step *s);
/* Values at the beginning: the model's, the head's, zeros for the optimizer. */
bool step_begin(step *s, const net *n, ts_error *e);
bool step_load(step *s, const ts_tensors *weights, const ts_tensors *optimizer, ts_error *e);

typedef struct step_result {
    double loss, norm, lr;
    double *norms; /* of each parameter, if asked for; n_param */
} step_result;
/* One update, the `number`-th of all, counted from 1. */
bool step_run(step *s, const net *n, const ts_array *batch, int64_t number, step_result *r, ts_error *e);
/* All state as named tensors, weights first: for checkpoints. Arrays are the caller's, as is the list. */
ts_given *step_state(step *s, int *n_weight, int *n_all, ts_error *e);
void step_state_free(ts_given *all, int n);
double step_lr(const step *s, int64_t number); /* of update `number`, from 1 */
/* Runs the last step again kernel by kernel and names the first that gives a NaN or an infinity. */
bool step_first_bad(step *s, char *out, size_t n);
#endif
