/* optimizer.h - how a gradient changes its parameter. */
#ifndef TRAIN_OPTIMIZER_H
#define TRAIN_OPTIMIZER_H
#include "bench/train/step.h"

typedef struct optimizer {
    ts_graph *g;
    const train_wish *wish;
    /* Inputs of the step: the learning rate; 1 / (1 - beta1^t); 1 / sqrt(1 - beta2^t) */
    ts_tensor lr, first, second;
} optimizer;
/* Makes p's states, and next[0] the parameter after the step, next[1 + k] its states. */
bool optimizer_apply(const optimizer *o, param *p, ts_tensor grad, ts_tensor *next, ts_error *e);
#endif
