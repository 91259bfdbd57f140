/* cost.c - what a node costs by its definition, before anything is fused. */
#include "graph/graph.h"

static double flops(const defn *d, const expr *x)
{
    const bool real = dtype_class(x->dtype) == D_REAL; /* integers are subscripts and conditions, as a rule */
    double trips = 1, body = real && x->fn ? x->fn->cost : 0;
    if (x->kind == X_LOAD || (!real && x->kind != X_CALL))
        return 0;
    for (int i = 0; x->kind == X_FOLD && i < d->n_axis; i++)
        if (x->folds >> i & 1)
            trips *= (double)d->extent[i];
    for (int i = 0; i < x->n; i++)
        body += flops(d, x->arg[i]);
    return trips * body;
}

double node_flops(const node *n)
{
    arena mem = {0};
    defn d;
    double total = 0;
    if (!node_is_leaf(n) && dtype_class(n->type.dtype) == D_REAL && g_defn(n, &mem, &d, NULL))
        total = (double)type_count(&n->type) * flops(&d, d.value);
    arena_free(&mem);
    return total;
}
