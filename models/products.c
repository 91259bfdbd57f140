/* products.c - what share of the multiply-add peak do products reach by themselves? A chain with weights of its own, as
 * cold as a network's: x [m,k] @ [k,n] @ [n,k] @ ...; and one as training has it, of two matrices that are new at every
 * step and lie as they were made, so that either may have to be read across. */
#include "models/parts/maker.h"

#include <math.h>
#include <stdio.h>

static bool products(ts_model *m, ts_graph *g, ts_error *e)
{
    const int64_t rows = ts_dim(m, "m"), side[2] = {ts_dim(m, "k"), ts_dim(m, "n")}, count = ts_dim(m, "layers");
    if (!maker_within(m, "layers", 0, 1 << 12, "products in the chain", e))
        return false;
    ts_tensor x = ts_input(g, "x", TS_F32, 2, (int64_t[]){rows, side[0]}); /* [m, k], then [m, n], [m, k], ... */
    for (int64_t i = 0; i < count; i++) {
        const int64_t in = side[i % 2], out = side[(i + 1) % 2];
        char name[32];
        snprintf(name, sizeof name, "w%lld", (long long)i);
        /* u in [-scale, scale) has variance scale^2 / 3: this keeps the products' size from layer to layer */
        ts_tensor w = ts_weight(g, name, TS_F32, 2, (int64_t[]){in, out}, 0, sqrt(3.0 / (double)in),
                                (uint64_t)i + 1); /* [in, out] */
        x = ts_call2(g, "matmul", x, w);
    }
    ts_result(m, "y", x);
    return ts_graph_ok(g, e);
}

/* y[m,n] = sum over k of a[m,k] b[k,n], where a lies as [k,m] if left is 1, and b as [n,k] if right is 1 */
static bool fresh(ts_model *m, ts_graph *g, ts_error *e)
{
    const int64_t rows = ts_dim(m, "m"), depth = ts_dim(m, "k"), columns = ts_dim(m, "n");
    const int64_t left = ts_dim(m, "left"), right = ts_dim(m, "right");
    if (!maker_within(m, "left", 0, 1, "1: a lies transposed", e) ||
        !maker_within(m, "right", 0, 1, "1: b lies transposed", e))
        return false;
    ts_tensor a = ts_input(
        g, "a", TS_F32, 2,
        (int64_t[]){left ? depth : rows, left ? rows : depth}); /* [m, k], or [k, m] where left is 1 */
    ts_tensor b = ts_input(
        g, "b", TS_F32, 2,
        (int64_t[]){right ? columns : depth, right ? depth : columns}); /* [k, n], or [n, k] where right is 1 */
    if (left)
        a = ts_call1(g, "transpose", a);
    if (right)
        b = ts_call1(g, "transpose", b);
    ts_result(m, "y", ts_call2(g, "matmul", a, b));
    return ts_graph_ok(g, e);
}

const ts_builder builders_products[] = {
    {"products", "a chain of matrix products, for the share of the peak that they reach", "m=128 k=768 n=768 layers=96",
     products},
    {"product-fresh", "a product of two matrices that are new at every run; left=1, right=1: that one lies transposed",
     "m=384 k=2048 n=1536 left=0 right=0", fresh},
    {0},
};
