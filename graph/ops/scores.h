/* scores.h - what operators of older machine learning make of scores [row, class], alike for trees, linear models and
 * support vectors: f32 until the end. Nodes are the graph's, and numbers of labels the call's; NULL: the graph or e
 * has the reason. */
#pragma once
#include "graph/ir/rule.h"

/* post_transform of the call; NULL: it is none that ONNX names, or the graph has the reason. */
const node *scores_transformed(const onnx_call *c, const node *s, err *e);
/* x as reals [row, feature]; a vector is one row. Integers become f32. */
const node *scores_input(const onnx_call *c, bool keep, err *e);

/* Labels of classes: their numbers where they are texts. */
typedef struct class_labels {
    int n;
    const int64_t *number; /* NULL: 0, 1, ... */
} class_labels;
bool class_labels_read(const onnx_call *c, const char *numbers, class_labels *out, err *e);
/* Ends an adapter: labels and scores. which: the place of each row's class, i64[row] */
bool class_labels_give(const onnx_call *c, const node **out, const class_labels *l, const node *which, const node *s);

bool scores_are(const onnx_call *c, const char *transform, err *e); /* whether post_transform is that one */
/* Of two classes, from the score s [row, 1] of the second: what the text says of it as a, and it */
const node *scores_pair(graph *g, const node *s, const char *first);
const node *scores_odds(graph *g, const node *s);                /* logistic of -s and s */
const node *scores_above(graph *g, const node *s, double level); /* 1 or 0, i64[row], of [row, 1] */
/* A constant of rows, or [row, column] where there are columns */
const node *scores_table(graph *g, dtype d, int64_t rows, int64_t columns, const double *v);
