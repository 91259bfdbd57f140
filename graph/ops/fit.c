/* fit.c - tensors brought to a wanted type. No operations of its own. */
#include "graph/ir/rule.h"

const node *g_summed(graph *g, const node *a, int n, const int64_t *axes, bool keepdims)
{
    return n ? g_apply(g, "sum", a, ATTRS(attr_int("keepdims", keepdims), attr_ints("axes", n, axes))) : a;
}

const node *g_filled(graph *g, const type *t, double v)
{
    return g_broadcast(g, g_scalar(g, t->dtype, v), t->rank, t->dim);
}

const node *g_fitted(graph *g, const node *a, const type *t)
{
    int64_t axes[MAX_RANK];
    int n = 0;
    if (!a)
        return NULL;
    const int skip = a->type.rank - t->rank;
    for (int i = 0; i < a->type.rank; i++)
        if (i < skip || (t->dim[i - skip] == 1 && a->type.dim[i] != 1))
            axes[n++] = i;
    a = g_summed(g, a, n, axes, n > skip);
    if (a && skip > 0 && a->type.rank != t->rank)
        a = g_reshape(g, a, t->rank, t->dim);
    a = g_cast(g, a, t->dtype);
    if (a && !type_equal(&a->type, t))
        a = g_broadcast(g, a, t->rank, t->dim);
    return a;
}
