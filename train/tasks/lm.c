/* lm.c - the token that follows each one of a stream. */
#include "train/task.h"

static bool put(net *n, ts_error *e)
{
    if (ts_rank(n->output) != 3)
        return net_wrong_rank(n, "[batch, sequence, vocabulary]", e);
    n->logits = n->output; /* [b, s, vocabulary] */
    n->classes = ts_shape(n->output)[2];
    if (!n->vocabulary || n->classes < n->vocabulary)
        n->vocabulary = n->classes; /* every token is a label too */
    /* [b, s]: the token that follows each */
    n->label = ts_input(n->g, "train.label", TS_I64, 2, (int64_t[]){n->batch, n->length});
    n->loss = net_cross_entropy(n, n->logits, n->label);
    return true;
}

const task task_lm = {.name = "lm", .label = LABEL_NONE, .stream = true, .classes = true, .put = put};
