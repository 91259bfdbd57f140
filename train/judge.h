/* judge.h - a trained model asked: what it says of examples, and how well.
 * The data, options and weights are borrowed until judge_free; a verdict owns its arrays, for verdict_free. */
#pragma once
#include "train/net.h"

typedef struct judge {
    net net;
    ts_tensor logits; /* of the trained weights */
    ts_plan *plan;    /* by judge_plan or judge_data */
} judge;
/* The weights named in `weights` replace the model's own. */
bool judge_make(judge *j, const train_options *w, const data *d, int64_t classes, int n, const ts_given *weights,
                ts_error *e);
bool judge_plan(judge *j, const ts_options *o, ts_error *e); /* a plan for the logits themselves */
void judge_free(judge *j);
/* Bytes that its plan holds, beside the weights that take the places of the model's. */
bool judge_bytes(const train_options *w, const data *d, int64_t classes, const ts_options *o, double *out, ts_error *e);

/* Of one class: examples that have it, that it was said of, and both. */
typedef struct class_count {
    int64_t have, said, right;
} class_count;
double class_precision(const class_count *c); /* right / said; 0 / 0 is 0, as in all of them */
double class_recall(const class_count *c);    /* right / have */
double class_f1(const class_count *c);        /* 2 right / (have + said) */

typedef enum judge_depth { JUDGE_MEANS, JUDGE_EACH, JUDGE_CLASSES } judge_depth; /* what is told of an example */
typedef struct verdict {
    int64_t n;                    /* examples, or tokens */
    int64_t classes;              /* that the model tells apart; 0: none */
    double loss, accuracy;        /* means; accuracy NaN where there is none */
    double precision, recall, f1; /* means over the classes that occur or were said; NaN where labels name none */
    class_count *of;              /* those of each class; NULL where labels name none */
    int64_t bad, bad_first;       /* for how many of n the model's outputs are NaN or infinite, and the first of them */
    /* Each example's own, if asked for: probability of its label, the class said and that one's probability; without
     * classes the score is the value itself. */
    double *score, *sure;
    int64_t *said;
    double *share; /* JUDGE_CLASSES: the probability of every class, [n, classes] */
} verdict;
bool judge_data(judge *j, const data *d, judge_depth depth, const ts_options *o, verdict *out, ts_error *e);
void verdict_free(verdict *v);
enum { VERDICT_TEXT = 200 };                                  /* bytes */
bool verdict_warns(const verdict *v, char out[VERDICT_TEXT]); /* of outputs that are no numbers */
