/* memory.c - lifetimes and places: best fit in one arena, values aligned to cache lines.
 *
 * Requires: kernels in order. Guarantees: every value read from memory has a home; two that are alive at the same time
 * do not overlap. The lower bound reported is the largest set of values alive at once. */
#include "schedule/plan.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGN = 64 };

static void touch(plan *p, const node *n, int kernel_at)
{
    home *h = &p->home[n->id];
    if (h->last < kernel_at)
        h->last = kernel_at;
}

static void find_lifetimes(plan *p)
{
    for (int i = 0; i < p->n_kernel; i++)
        for (int s = 0; s < p->kernel[i].n_stage; s++) {
            const stage *st = &p->kernel[i].stage[s];
            home *h = &p->home[st->node->id];
            if (!st->scratch)
                h->first = h->last = i, h->where = IN_ARENA;
            for (int j = 0; j < st->n_load; j++)
                touch(p, st->load[j]->from, i);
        }
}

static int by_size(const void *a, const void *b)
{
    const home *x = *(home *const *)a, *y = *(home *const *)b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->first != y->first ? x->first - y->first : x->index - y->index;
}

/* The lowest gap that fits among the values placed so far that are alive at the same time; the tightest one. */
static int64_t best_fit(home *const *placed, int n, const home *h)
{
    int64_t at = 0, best = -1, room = INT64_MAX;
    while (at >= 0) { /* gaps between live neighbours, in order of their offsets */
        int64_t next = INT64_MAX, end = -1;
        for (int i = 0; i < n; i++) {
            const home *o = placed[i];
            if (o->last < h->first || o->first > h->last || o->offset + o->bytes <= at)
                continue;
            if (o->offset < next)
                next = o->offset, end = o->offset + o->bytes;
            else if (o->offset == next && o->offset + o->bytes > end)
                end = o->offset + o->bytes;
        }
        const int64_t gap = next == INT64_MAX ? INT64_MAX : next - at;
        if (gap >= h->bytes && gap < room)
            best = at, room = gap;
        if (next == INT64_MAX)
            return best < 0 ? at : best;
        at = end > at ? end : at;
    }
    return best;
}

static int64_t most_alive(const plan *p, home *const *all, int n)
{
    int64_t most = 0;
    for (int k = 0; k < p->n_kernel; k++) {
        int64_t sum = 0;
        for (int i = 0; i < n; i++)
            if (all[i]->first <= k && k <= all[i]->last)
                sum += all[i]->bytes;
        most = sum > most ? sum : most;
    }
    return most;
}

bool pass_memory(plan *p, err *e)
{
    int n = 0;
    home **all = arena_array(&p->mem, (size_t)p->g->n + 1, sizeof *all);
    find_lifetimes(p);
    for (int i = 0; i < p->n_root; i++) {
        home *h = &p->home[p->root[i]->id];
        if (!node_is_leaf(p->root[i]))
            h->where = IN_ARENA, h->last = p->n_kernel;
    }
    for (int id = 0; id < p->g->n; id++) {
        home *h = &p->home[id];
        const node *v = p->g->node[id];
        if (h->where != IN_ARENA)
            continue;
        const bool wide = p->reference && dtype_class(v->type.dtype) == D_REAL;
        int64_t bytes;
        if (!int_mul(h->layout.size, wide ? 8 : ts_dtype_bytes(v->type.dtype), &bytes))
            return err_set(e, TS_MEMORY, "a value of the model has too many bytes");
        h->bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN, h->index = id;
        all[n++] = h;
    }
    qsort(all, (size_t)n, sizeof *all, by_size);
    for (int i = 0; i < n; i++) {
        all[i]->offset = best_fit(all, i, all[i]);
        if (all[i]->offset + all[i]->bytes > p->arena_bytes)
            p->arena_bytes = all[i]->offset + all[i]->bytes;
    }
    p->lower_bound = most_alive(p, all, n);
    return true;
}
