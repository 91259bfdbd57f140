/* ontop.c - a task that the project does not have: the next token, and small scores. */
#include "train/task.h"

static bool put(net *n, ts_error *e)
{
    if (ts_rank(n->output) != 3)
        return net_wrong_rank(n, "[batch, sequence, vocabulary]", e);
    n->logits = n->output; /* [b, s, vocabulary] */
    n->classes = ts_shape(n->output)[2];
    n->label = ts_input(n->g, "train.label", TS_I64, 2, (int64_t[]){n->batch, n->length});
    const ts_tensor square = ts_call2(n->g, "multiply", n->logits, n->logits), size = ts_call1(n->g, "mean", square);
    n->loss = ts_call2(n->g, "add", net_cross_entropy(n, n->logits, n->label), size);
    return true;
}

const task task_ontop = {.name = "ontop", .stream = true, .classes = true, .put = put};
