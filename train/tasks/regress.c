/* regress.c - a number for each example: a head of one row, and squares of what it is off. */
#include "train/task.h"

static bool put(net *n, ts_error *e)
{
    if (!net_head(n, net_dropout_head(n, net_pooled(n)), 1, e))
        return false;
    n->label = ts_input(n->g, "train.label", TS_F32, 1, &n->batch);                                 /* [b] */
    const ts_tensor y = net_call(n->g, 1, &n->logits, "reshape shape=[%lld]", (long long)n->batch); /* [b, 1] -> [b] */
    n->loss = ts_call2(n->g, "mse_loss", y, n->label);
    return true;
}

const task task_regress = {.name = "regress", .label = LABEL_REAL, .labels = true, .put = put};
