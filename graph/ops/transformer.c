/* transformer.c - the two halves of a transformer's layer, each as one call: attention of several heads with its four
 * products, and the two products with an activation between them. Weights are [in, out], as matmul takes them. */
#include "graph/ir/rule.h"

/* ---- helpers ---- */
/* x [..., in] w [in, out] + b [out], b perhaps NULL; the error calls w by `name`. */
static const node *dense(graph *g, const node *x, const node *w, const node *b, const char *name)
{
    const type *t = &w->type;
    if (!x)
        return NULL;
    const int64_t width = x->type.dim[x->type.rank - 1];
    if (t->rank != 2)
        return g_fail(g, TS_BAD_INPUT, "%s has rank %d; [in, out] expected", name, t->rank);
    if (t->dim[0] != width)
        return g_fail(g, TS_BAD_INPUT, "%s takes rows of %lld, the operand's are of %lld; [in, out] expected", name,
                      (long long)t->dim[0], (long long)width);
    if (b && (b->type.rank != 1 || b->type.dim[0] != t->dim[1]))
        return g_fail(g, TS_BAD_INPUT, "the bias of %s is %s, not one number for each of %lld columns", name,
                      type_said(&b->type).s, (long long)t->dim[1]);
    const node *y = g_call2(g, "matmul", x, w);
    return b ? g_call2(g, "add", y, b) : y;
}

/* [..., a, b, c] -> [..., b, a, c] */
static const node *swapped(graph *g, const node *y)
{
    int64_t axes[MAX_RANK];
    if (!y)
        return NULL;
    const int rank = y->type.rank;
    for (int i = 0; i < rank; i++)
        axes[i] = i == rank - 3 ? rank - 2 : i == rank - 2 ? rank - 3 : i;
    return g_transpose(g, y, rank, axes);
}

/* [..., time, heads * width] -> [..., heads, time, width] */
static const node *split(graph *g, const node *y, int64_t heads, const char *name)
{
    int64_t shape[MAX_RANK];
    if (!y)
        return NULL;
    const int rank = y->type.rank;
    if (y->type.dim[rank - 1] % heads)
        return g_fail(g, TS_BAD_INPUT, "%s gives %lld columns, which %lld heads do not share alike", name,
                      (long long)y->type.dim[rank - 1], (long long)heads);
    for (int i = 0; i < rank; i++)
        shape[i] = y->type.dim[i];
    shape[rank - 1] = heads, shape[rank] = y->type.dim[rank - 1] / heads;
    return swapped(g, g_reshape(g, y, rank + 1, shape));
}

/* [..., heads, time, width] -> [..., time, heads * width] */
static const node *merged(graph *g, const node *y)
{
    int64_t shape[MAX_RANK];
    y = swapped(g, y);
    if (!y)
        return NULL;
    const int rank = y->type.rank - 1;
    for (int i = 0; i < rank; i++)
        shape[i] = y->type.dim[i];
    shape[rank - 1] *= y->type.dim[rank];
    return g_reshape(g, y, rank, shape);
}

static bool sequences(graph *g, const node *n, int count)
{
    for (int i = 0; i < count; i++)
        if (n->in[i]->type.rank < 2 || n->in[i]->type.rank >= MAX_RANK)
            return g_fail(g, TS_BAD_INPUT, "operand %d has rank %d; [..., time, width] of 2 to %d axes expected", i + 1,
                          n->in[i]->type.rank, MAX_RANK - 1),
                   false;
    return true;
}

/* ---- recipes ---- */
/* Operands: queries, keys, values [..., time, width]; their three weights [width, heads * own] and that of the result,
 * [heads * own, width]; in: each split [..., heads, time, own], then the mask; y [..., heads, time, own]. Besides,
 * perhaps the four biases; perhaps a mask, which is added to the scores [..., heads, queries, keys]. */
static const node *multi_head_lower(graph *g, const node *n)
{
    static const char *const name[] = {"the weight of queries", "the weight of keys", "the weight of values",
                                       "the weight of the result"};
    const bool biased = n->n_in >= 11, masked = n->n_in == 8 || n->n_in == 12;
    const int64_t heads = node_int(n, "heads");
    if (n->n_in != 7 + 4 * biased + masked)
        return g_fail(g, TS_BAD_INPUT,
                      "%d operands given, takes 7: q, k, v and the weights of q, k, v and the result; then perhaps 4 "
                      "biases; then perhaps a mask",
                      n->n_in);
    if (heads < 1)
        return g_fail(g, TS_BAD_INPUT, "heads: %lld is below 1", (long long)heads);
    if (!sequences(g, n, 3))
        return NULL;
    const node *in[4] = {NULL, NULL, NULL, n->in[n->n_in - 1]};
    for (int i = 0; i < 3; i++) {
        in[i] = split(g, dense(g, n->in[i], n->in[3 + i], biased ? n->in[7 + i] : NULL, name[i]), heads, name[i]);
        if (!in[i])
            return NULL;
    }
    /* scale and causal; [batch, heads, queries, width] */
    const node *y = g_apply_n(g, "attention", masked ? 4 : 3, in, 2, n->attr + 1);
    return dense(g, merged(g, y), n->in[6], biased ? n->in[10] : NULL, name[3]);
}

/* Operands: x [..., width], weights [width, inner] and [inner, out], perhaps two biases. Gated, the first is
 * [width, 2 * inner]: what is activated, then its factor; y, z, factor [..., inner]. */
static const node *feed_forward_lower(graph *g, const node *n)
{
    const char *activation = node_attr(n, "activation")->s;
    const op *o = op_find(activation);
    if (n->n_in != 3 && n->n_in != 5)
        return g_fail(g, TS_BAD_INPUT, "%d operands given, takes 3: x and two weights; then perhaps 2 biases", n->n_in);
    if (!o || o->arity != 1)
        return g_fail(g, TS_BAD_INPUT, "activation: \"%s\" is no operation on one tensor; gelu, relu, silu are some",
                      activation);
    if (n->in[0]->type.rank < 1)
        return g_refuse(g, 1, n->in, "x [..., width]");
    const bool biased = n->n_in == 5, gated = node_int(n, "gated") != 0;
    const node *y = dense(g, n->in[0], n->in[1], biased ? n->in[3] : NULL, "the first weight"), *factor = NULL;
    if (!y)
        return NULL;
    const int64_t columns = y->type.dim[y->type.rank - 1];
    if (gated && columns % 2)
        return g_fail(g, TS_BAD_INPUT, "the first weight gives %lld columns, which gated=1 cannot halve",
                      (long long)columns);
    if (gated) {
        factor = g_callf(g, 1, &y, "split axis=-1 parts=2 part=1");
        y = g_callf(g, 1, &y, "split axis=-1 parts=2 part=0");
    }
    const node *z = g_call1(g, activation, y); /* [..., inner] */
    if (y && z && !type_equal(&y->type, &z->type))
        return g_fail(g, TS_BAD_INPUT, "activation: %s gives another shape or dtype than it takes", activation);
    y = z;
    if (gated)
        y = g_call2(g, "multiply", y, factor);
    return dense(g, y, n->in[2], biased ? n->in[4] : NULL, "the second weight");
}

/* ---- records ---- */
const op ops_transformer[] = {
    RECIPE("multi_head_attention ... heads:i scale:f= causal:i=0 -> b t o", multi_head_lower,
           "multi_head_attention(attention, x, heads, scale, causal)", NULL,
           "f32[2,3,4] f32[2,3,4] f32[2,3,4] f32[4,4] f32[4,4] f32[4,4] f32[4,4] heads=2 scale=0.01\n"
           "f64[2,3,4] f64[2,5,6] f64[2,5,3] f64[4,6] f64[6,6] f64[3,9] f64[9,5] f64[6] f64[6] f64[9] f64[5] "
           "heads=3\nf64[2,4,4] f64[2,4,4] f64[2,4,4] f64[4,4] f64[4,4] f64[4,4] f64[4,4] heads=2 scale=0.1 "
           "causal=1\nf64[1,3,4] f64[1,5,4] f64[1,5,4] f64[4,4] f64[4,4] f64[4,4] f64[4,2] f64[1,1,1,5] heads=4 "
           "scale=0.1\nf64[3,4] f64[3,4] f64[3,4] f64[4,2] f64[4,2] f64[4,2] f64[2,4] f64[2] f64[2] f64[2] f64[4] "
           "f64[3,3] heads=1 scale=0.2",
           "Attention of `heads` heads between q, k and v [..., time, width], each through a weight [in, out] first, "
           "and all heads together through one last: q, k, v, their weights, the last one; then, where given, the "
           "four biases; then a mask that is added to the scores [..., heads, queries, keys]."),
    RECIPE("feed_forward ... activation:s=gelu gated:i=0 -> r c", feed_forward_lower,
           "feed_forward(erf, x, activation, gated)", NULL,
           "f32[2,3] f32[3,8] f32[8,3]\nf32[2,3,4] f32[4,6] f32[6,2] f32[6] f32[2] activation=relu\n"
           "f64[5,3] f64[3,8] f64[4,3] f64[8] f64[3] activation=silu gated=1\nf64[3] f64[3,4] f64[2,5] gated=1\n"
           "f64[2,3] f64[3,4] f64[4,3] activation=tanh\nf32[0,3] f32[3,4] f32[4,3]",
           "x [..., in] through a weight [in, hidden], an activation and a weight [hidden, out]: x, both weights, "
           "then both biases where given; with gated=1 the first weight is [in, 2 * hidden], and the activated half "
           "of its result is multiplied by the other."),
    {0},
};
