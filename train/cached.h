/* cached.h - a model file that goes on with what earlier tokens left in it: it takes tokens and a past (keys and
 * values of earlier ones), and gives what follows and a present, which is the past of the next run. What its inputs and
 * outputs are is found out from names and shapes. A `cached` owns its model and plans until cached_free. */
#pragma once
#include "train/net.h"

typedef struct cached_port {
    ts_port port; /* its texts are copies */
    feed_role role;
    int axis, present; /* FEED_EMPTY, a past: the axis along which earlier tokens lie; the output that it becomes */
    ts_array kept;     /* what it is now */
} cached_port;
typedef struct cached {
    ts_model *model;
    int n, n_past, tokens, logits; /* inputs; of them pasts; which are the tokens; the output of what follows */
    cached_port in[MOST_PORTS];
    ts_bound *bound;
    ts_plan *prompt, *next; /* all tokens of the prompt, one more */
    bool appends;           /* next keeps the pasts, and puts into them what is new */
    int64_t batch, known, most, classes, vocabulary;
    char said[400]; /* what was recognised */
} cached;
/* What the model's inputs and outputs are; n_past 0: it takes no past, and cached_make is not for it. */
bool cached_open(cached *c, const char *model, ts_error *e);
typedef struct cached_want {
    const char *dims;              /* of --dim, a line each; NULL: none. A range of the past says how many tokens fit */
    int64_t batch, prompt, tokens; /* texts at once; tokens of the prompt, and behind it */
} cached_want;
bool cached_make(cached *c, const cached_want *w, const ts_options *o, ts_error *e);
/* Sets logit[row * classes ...] to what follows the first n tokens of each row of id, rows being `stride` apart. */
bool cached_next(cached *c, const int64_t *id, int64_t stride, int64_t n, double *logit, ts_error *e);
void cached_no_past(const cached *c, char **dims); /* adds what --dim says where the model is to run without one */
void cached_free(cached *c);
