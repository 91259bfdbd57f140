/* memory.c - lifetimes and places: best fit in one arena, values aligned to cache lines. A result may lie over an
 * operand that dies in its kernel; such values are placed as one.
 *
 * Requires: kernels in order, with their loops. Guarantees: every value read from memory has a home; two that are alive
 * at the same time do not overlap, save a result and what it lies over, in the kernel of both. The lower bound reported
 * is the largest set of values alive at once. */
#include "schedule/reuse.h"

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
            if (all[i]->first <= k && k <= all[i]->last && !(all[i]->over && all[i]->first == k))
                sum += all[i]->bytes;
        most = sum > most ? sum : most;
    }
    return most;
}

/* ---- results over operands ---- */
/* The operand that the result of a stage can take the place of: the one with the least room to spare, or NULL. */
static const node *dying_operand(const plan *p, int at, int which, const bool *taken)
{
    const kernel *k = &p->kernel[at];
    const home *w = &p->home[k->stage[which].node->id];
    const node *best = NULL;
    for (int i = 0; i <= which; i++)
        for (int j = 0; j < k->stage[i].n_load; j++) {
            const node *n = k->stage[i].load[j]->from;
            const home *r = &p->home[n->id];
            if (r->where == IN_ARENA && r->first < at && r->last == at && !taken[n->id] && r->bytes >= w->bytes &&
                (!best || r->bytes < p->home[best->id].bytes) && reuse_legal(p, k, which, n))
                best = n;
        }
    return best;
}

static void find_reuse(plan *p)
{
    bool *taken = arena_array(&p->mem, (size_t)p->g->n + 1, sizeof *taken);
    for (int k = 0; k < p->n_kernel; k++)
        for (int s = 0; s < p->kernel[k].n_stage; s++) {
            stage *st = &p->kernel[k].stage[s];
            home *h = &p->home[st->node->id];
            if (st->scratch || h->where != IN_ARENA || !(st->over = h->over = dying_operand(p, k, s, taken)))
                continue;
            taken[h->over->id] = true;
        }
}

/* ---- places ---- */
static bool find_bytes(plan *p, err *e)
{
    for (int id = 0; id < p->g->n; id++) {
        home *h = &p->home[id];
        const node *v = p->g->node[id];
        const bool wide = p->reference && dtype_class(v->type.dtype) == D_REAL;
        int64_t bytes;
        if (h->where != IN_ARENA)
            continue;
        if (!int_mul(h->layout.size, wide ? 8 : ts_dtype_bytes(v->type.dtype), &bytes))
            return err_set(e, TS_MEMORY, "a value of the model has too many bytes");
        h->bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN, h->index = id;
    }
    return true;
}

/* Values that lie over each other are one, from the first one's making to the last one's end, as large as the first. */
static int64_t place_all(plan *p, home **all, int n)
{
    home **placed = arena_array(&p->mem, (size_t)n + 1, sizeof *placed);
    int *last = arena_array(&p->mem, (size_t)p->g->n + 1, sizeof *last), m = 0;
    int64_t size = 0;
    for (int i = 0; i < n; i++)
        last[all[i]->index] = all[i]->last;
    for (int i = 0; i < n; i++) {
        home *head = all[i];
        while (head->over)
            head = &p->home[head->over->id];
        head->last = head->last > last[all[i]->index] ? head->last : last[all[i]->index];
        if (head == all[i])
            placed[m++] = head;
    }
    qsort(placed, (size_t)m, sizeof *placed, by_size);
    for (int i = 0; i < m; i++) {
        placed[i]->offset = best_fit(placed, i, placed[i]);
        if (placed[i]->offset + placed[i]->bytes > size)
            size = placed[i]->offset + placed[i]->bytes;
    }
    for (int i = 0; i < n; i++) {
        const home *head = all[i];
        while (head->over)
            head = &p->home[head->over->id];
        all[i]->offset = head->offset, all[i]->last = last[all[i]->index];
    }
    return size;
}

static void find_roots(plan *p)
{
    for (int i = 0; i < p->n_root; i++) {
        home *h = &p->home[p->root[i]->id];
        if (!node_is_leaf(p->root[i]))
            h->where = IN_ARENA, h->last = p->n_kernel;
    }
}

bool pass_memory(plan *p, err *e)
{
    int n = 0;
    home **all = arena_array(&p->mem, (size_t)p->g->n + 1, sizeof *all);
    carry_order(p);
    find_lifetimes(p);
    find_roots(p);
    carry_in_place(p);
    if (!find_bytes(p, e))
        return false;
    for (int id = 0; id < p->g->n; id++)
        if (p->home[id].where == IN_ARENA)
            all[n++] = &p->home[id];
    if (!p->own_places)
        find_reuse(p);
    p->arena_bytes = place_all(p, all, n);
    p->lower_bound = most_alive(p, all, n);
    return true;
}
