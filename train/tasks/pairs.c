/* pairs.c - texts that belong together, among those of a batch. */
#include "train/task.h"

/* Texts that stand together are near, all others of the batch are far: cross-entropy over cosines, 20 times. */
static bool put(net *n, ts_error *e)
{
    const ts_tensor x = net_dropout_head(n, net_pooled(n)); /* [2 b, h]: first texts, then those that belong to them */
    if (ts_rank(x) != 2)
        return net_wrong_rank(n, "[batch, width] or [batch, sequence, width]", e);
    const long long b = n->batch;
    /* length [2 b, 1], unit [2 b, h]; first and second [b, h]; cosine [b, b] */
    const ts_tensor length = ts_call1(n->g, "norm2 axes=[1] keepdims=1", x), unit = ts_call2(n->g, "divide", x, length),
                    first = net_call(n->g, 1, &unit, "index key=:%lld", b),
                    second = net_call(n->g, 1, &unit, "index key=%lld:", b),
                    turned = net_call(n->g, 1, &second, "transpose axes=[1,0]"),
                    cosine = ts_call2(n->g, "matmul", first, turned);
    /* [b, b]: row i is right in column i */
    n->logits = ts_call2(n->g, "multiply", cosine, ts_scalar(n->g, TS_F32, 20));
    n->label = ts_input(n->g, "train.label", TS_I64, 1, &n->batch);
    n->loss = net_cross_entropy(n, n->logits, n->label);
    return true;
}

const task task_pairs = {.name = "pairs", .label = LABEL_TEXT, .classes = true, .put = put};
