/* products.c - a chain of matrix products with weights of their own, as cold as a network's: what share of the
 * multiply-add peak do products reach by themselves? x [m,k] @ [k,n] @ [n,k] @ ... */
#include "tessera.h"

#include <math.h>
#include <stdio.h>

static bool products(ts_model *m, ts_graph *g, ts_error *e)
{
    const int64_t rows = ts_dim(m, "m"), side[2] = {ts_dim(m, "k"), ts_dim(m, "n")}, count = ts_dim(m, "layers");
    ts_tensor x = ts_input(g, "x", TS_F32, 2, (int64_t[]){rows, side[0]});
    for (int64_t i = 0; i < count; i++) {
        const int64_t in = side[i % 2], out = side[(i + 1) % 2];
        char name[32];
        snprintf(name, sizeof name, "w%lld", (long long)i);
        /* u in [-scale, scale) has variance scale^2 / 3: this keeps the products' size from layer to layer */
        ts_tensor w = ts_weight(g, name, TS_F32, 2, (int64_t[]){in, out}, 0, sqrt(3.0 / (double)in), (uint64_t)i + 1);
        x = ts_call2(g, "matmul", x, w);
    }
    ts_result(m, "y", x);
    return ts_graph_ok(g, e);
}

const ts_builder builders_products[] = {
    {"products", "a chain of matrix products, for the share of the peak that they reach", "m=128 k=768 n=768 layers=96",
     products},
    {0},
};
