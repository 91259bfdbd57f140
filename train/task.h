/* task.h - what a net is trained for. A task is a record in a file of its own in train/tasks; the build writes the
 * table and the words of --task from the lines that start with `const task task_F =`. Records live for ever. */
#pragma once
#include "train/net.h"

typedef struct task {
    const char *name;
    data_label label; /* what stands behind an example; LABEL_TEXT: rows are first texts, then what belongs to them */
    bool stream;      /* the data is one text: a token's label is the next one, and nothing is pooled */
    bool labels;      /* it gives each example a label of the data's kind by a head; arrays are examples too */
    bool classes;     /* logits are of classes, one of them right: there is an accuracy */
    bool (*put)(net *n, ts_error *e); /* on n->output: sets logits, label, loss */
} task;
extern const task *const tasks[];            /* by name, ends with NULL; written by the build */
extern const char task_names[];              /* "classify|lm|..." */
const task *task_of(const train_options *w); /* that w->task names; never NULL: a bug where there is none */
const task *task_named(const char *name, ts_error *e);

/* ---- for tasks: each gives a tensor of the net's graph, or false with e set ---- */
ts_tensor net_call(ts_graph *g, int count, const ts_tensor *in, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
ts_tensor net_pooled(net *n);                                            /* [b, s, h] -> [b, h] */
bool net_head(net *n, ts_tensor x, int64_t out, ts_error *e);            /* logits [b, out] of x [b, h] */
ts_tensor net_cross_entropy(net *n, ts_tensor logits, ts_tensor target); /* logits [..., c], target [...] -> [] */
bool net_wrong_rank(const net *n, const char *wanted, ts_error *e);      /* refuses the output; false */
