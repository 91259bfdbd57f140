/* classify.c - one of the classes of the data for each example: a head over the pooled output. */
#include "train/task.h"

static bool put(net *n, ts_error *e)
{
    if (ts_rank(n->output) != 2 && ts_rank(n->output) != 3)
        return net_wrong_rank(n, "[batch, width] or [batch, sequence, width]", e);
    const int64_t out = n->classes;
    if (!net_head(n, net_dropout_head(n, net_pooled(n)), out, e))
        return false;
    n->classes = ts_shape(n->logits)[1];
    n->label = ts_input(n->g, "train.label", TS_I64, 1, &n->batch); /* [b] */
    n->loss = net_cross_entropy(n, n->logits, n->label);
    return true;
}

const task task_classify = {.name = "classify", .label = LABEL_CLASS, .labels = true, .classes = true, .put = put};
