/* cost.c - what a node costs by its definition, before anything is fused. */
#include "graph/ir/trip.h"

static double points(const defn *d, const expr *x) /* of the axes it folds away */
{
    double n = 1;
    for (int i = 0; i < d->n_axis; i++)
        if (x->folds >> i & 1)
            n *= (double)d->extent[i];
    return n;
}

static double flops(const defn *d, const expr *x)
{
    const bool real = dtype_class(x->dtype) == D_REAL; /* integers are subscripts and conditions, as a rule */
    double body = real && x->fn ? x->fn->cost : 0;
    if (x->kind == X_LOAD || (!real && x->kind != X_CALL))
        return 0;
    for (int i = 0; i < x->n; i++)
        body += flops(d, x->arg[i]);
    return points(d, x) * body;
}

static double trips_flops(const node *n) /* of all trips, though an early end may leave some out */
{
    int count = 0;
    double one = 0;
    ENDED_BY(heap_free) const node **all = g_reached_make(n->trip->n_root, n->trip->root, &count);
    for (int i = 0; i < count; i++)
        one += node_flops(all[i]);
    return (double)scan_form_of(n).trips * one;
}

double node_flops(const node *n)
{
    if (n->trip)
        return trips_flops(n);
    ENDED_BY(arena_free) arena mem = {0};
    defn d;
    double total = 0;
    if (!node_is_leaf(n) && dtype_class(n->type.dtype) == D_REAL && g_defn(n, &mem, &d, NULL))
        total = d.value->kind == X_SCATTER
                    ? (double)type_count(&n->type) * flops(&d, d.value->arg[0]) +
                          points(&d, d.value) * (flops(&d, d.value->arg[1]) + (d.value->fn ? d.value->fn->cost : 0))
                    : (double)type_count(&n->type) * flops(&d, d.value);
    return total;
}

double node_points(const node *n)
{
    ENDED_BY(arena_free) arena mem = {0};
    defn d;
    double total = 0;
    if (n->trip) {
        int count = 0;
        ENDED_BY(heap_free) const node **all = g_reached_make(n->trip->n_root, n->trip->root, &count);
        for (int i = 0; i < count; i++)
            total += node_points(all[i]);
        return (double)scan_form_of(n).trips * total;
    }
    if (!node_is_leaf(n) && g_defn(n, &mem, &d, NULL)) {
        total = 1;
        for (int k = 0; k < d.n_axis; k++)
            total *= (double)d.extent[k];
    }
    return total;
}
