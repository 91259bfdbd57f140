/* below.c - which values an input of integers may have, as the definitions of those that read it tell. */
#include "import/model.h"

#include <stdlib.h>

typedef struct finder {
    const node *const *input;
    const int *number; /* by node id: one more than the number of the input; 0: none */
    int most;          /* the highest id */
    int64_t *below;
} finder;

/* The node whose elements n passes on as they are; n itself when it computes. */
static const node *carried(const node *n)
{
    enum { FAR = 64 };
    for (int i = 0; i < FAR && !node_is_leaf(n); i++) {
        ENDED_BY(arena_free) arena mem = {0};
        defn d;
        const expr *x = g_defn(n, &mem, &d, NULL) ? d.value : NULL;
        while (x && x->kind == X_CAST && dtype_class(x->dtype) == D_WHOLE)
            x = x->arg[0];
        const node *from = x && x->kind == X_LOAD && dtype_class(x->dtype) == D_WHOLE ? x->from : NULL;
        if (!from)
            break;
        n = from;
    }
    return n;
}

static void note(const finder *f, const node *from, int64_t below)
{
    const node *source = carried(from);
    const int i = source->id <= f->most ? f->number[source->id] - 1 : -1;
    if (i >= 0 && f->input[i] == source && dtype_class(source->type.dtype) == D_WHOLE)
        if (f->below[i] == 0 || below < f->below[i])
            f->below[i] = below;
}

static void note_indices(const finder *f, const expr *subscript, int64_t extent)
{
    const expr *load[MAX_RANK];
    const int n = x_loads(subscript, load, MAX_RANK);
    for (int i = 0; i < n && i < MAX_RANK; i++)
        note(f, load[i]->from, extent);
}

static void search(const finder *f, const expr *x)
{
    for (int i = 0; x->kind == X_LOAD && i < x->n; i++)
        note_indices(f, x->arg[i], x->from->type.dim[i]);
    if (x->kind == X_CAST && x->dtype == TS_BOOL && x->arg[0]->kind == X_LOAD)
        note(f, x->arg[0]->from, 2);
    for (int i = 0; i < x->n; i++)
        search(f, x->arg[i]);
}

void below_find(int n_result, const node *const *result, int n, const node *const *input, int64_t *below)
{
    ENDED_BY(heap_free) const node **all = heap_array((size_t)g_reach(n_result, result, NULL) + 1, sizeof *all);
    const int count = g_reach(n_result, result, all), most = count ? all[count - 1]->id : 0;
    ENDED_BY(heap_free) int *number = heap_array((size_t)most + 1, sizeof *number);
    for (int i = 0; i < n; i++)
        if (input[i] && input[i]->id <= most)
            number[input[i]->id] = i + 1;
    const finder f = {input, number, most, below};
    for (int i = 0; i < count; i++) {
        ENDED_BY(arena_free) arena mem = {0};
        defn d;
        if (!node_is_leaf(all[i]) && g_defn(all[i], &mem, &d, NULL))
            search(&f, d.value);
    }
}
