/* fit.c - tensors brought to a wanted type. No operations of its own. */
#include "graph/ir/rule.h"

const node *g_summed(graph *g, const node *a, int n, const int64_t *axes, bool keepdims)
{
    const attr list[] = {attr_int("keepdims", keepdims), attr_ints("axes", n, axes)};
    return n ? g_apply(g, "sum", a, COUNT(list), list) : a;
}

const node *g_filled(graph *g, const type *t, double v)
{
    return g_apply(g, "broadcast_to", g_scalar(g, t->dtype, v), 1, (attr[]){attr_ints("shape", t->rank, t->dim)});
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
    if (a && a->type.dtype != t->dtype)
        a = g_apply(g, "cast", a, 1, (attr[]){attr_word("to", ts_dtype_name(t->dtype))});
    if (a && !type_equal(&a->type, t))
        a = g_broadcast(g, a, t->rank, t->dim);
    return a;
}
