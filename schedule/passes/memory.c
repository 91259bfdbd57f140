/* memory.c - lifetimes and places: best fit in one arena, values aligned to cache lines. A result may lie over an
 * operand that dies in its kernel; such values are placed as one.
 *
 * Requires: kernels in order, with their loops. Guarantees: every value read from memory has a buffer; two that are
 * alive at the same time do not overlap, save a result and what it lies over, in the kernel of both; what a rule says
 * "reuse": "none" of overlaps nothing at any time. The lower bound reported is the largest set of values alive at
 * once. */
#include "schedule/passes/passes.h"
#include "schedule/schema/schema.h"

#include <stdlib.h>
#include <string.h>

static void note_use(plan *p, const node *n, int kernel_at)
{
    buffer *h = &p->buffer[n->id];
    if (h->last < kernel_at)
        h->last = kernel_at;
}

static void find_lifetimes(plan *p)
{
    for (int i = 0; i < p->n_kernel; i++)
        for (int s = 0; s < p->kernel[i].n_stage; s++) {
            const stage *st = &p->kernel[i].stage[s];
            buffer *h = &p->buffer[st->node->id];
            if (!st->scratch)
                h->first = h->last = i, h->where = IN_ARENA;
            for (int j = 0; j < st->n_load; j++)
                note_use(p, st->load[j]->from, i);
        }
    for (int i = 0; i < p->n_crossing; i++) {
        const crossing *c = &p->crossing[i];
        if (c->received)
            p->buffer[c->node->id].where = IN_ARENA, p->buffer[c->node->id].first = c->at;
        note_use(p, c->node, c->at);
    }
}

static int by_size(const void *a, const void *b)
{
    const buffer *x = *(buffer *const *)a, *y = *(buffer *const *)b;
    if (x->own != y->own)
        return x->own - y->own;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->first != y->first ? x->first - y->first : x->index - y->index;
}

/* ---- places taken so far, by when ---- */
typedef struct range {
    int64_t from, to;
} range;
typedef struct ranges { /* apart from each other, in order */
    int n, cap;
    range *of;
} ranges;
/* Kernels 0..leaves-1 are the leaves of a binary tree whose nodes are numbered from 1. A value stands at the few nodes
 * that together cover its life: what overlaps a life in time is all that stands at or below the nodes that cover it,
 * and what stands above them. Neighbours in memory are one range, so that these are few where many values are alive. */
typedef struct run { /* in order */
    const range *at, *end;
} run;
typedef struct timeline {
    arena *mem;
    int leaves;
    ranges *at, *below; /* by node of the tree: of what stands at it; at it or below */
    int n_run;          /* of ranges that overlap a life: a heap of what is left of each, the lowest range first */
    run *run;
} timeline;

static timeline timeline_make(arena *mem, int kernels)
{
    timeline t = {.mem = mem, .leaves = 1};
    while (t.leaves < kernels)
        t.leaves *= 2;
    t.at = arena_array(mem, 2 * (size_t)t.leaves, sizeof *t.at);
    t.below = arena_array(mem, 2 * (size_t)t.leaves, sizeof *t.below);
    t.run = arena_array(mem, 65 * 65, sizeof *t.run); /* at each of the nodes that cover a life, those above it */
    return t;
}

static void make_room(arena *mem, ranges *r, int more)
{
    if (r->n + more <= r->cap)
        return;
    const int cap = 2 * (r->n + more);
    range *of = arena_array(mem, (size_t)cap, sizeof *of);
    if (r->n)
        memcpy(of, r->of, (size_t)r->n * sizeof *of);
    r->of = of, r->cap = cap;
}

static void ranges_add(arena *mem, ranges *r, range x)
{
    int low = 0, end = r->n; /* low..end-1: those that touch it become one with it */
    while (low < end) {
        const int middle = low + (end - low) / 2;
        if (r->of[middle].to < x.from)
            low = middle + 1;
        else
            end = middle;
    }
    for (; end < r->n && r->of[end].from <= x.to; end++) {
        x.from = r->of[end].from < x.from ? r->of[end].from : x.from;
        x.to = r->of[end].to > x.to ? r->of[end].to : x.to;
    }
    make_room(mem, r, 1);
    memmove(r->of + low + 1, r->of + end, (size_t)(r->n - end) * sizeof x);
    r->of[low] = x, r->n += 1 - (end - low);
}

typedef void timeline_step(timeline *t, int at, const buffer *h);

static void each_cover(timeline *t, const buffer *h, timeline_step *step) /* the nodes that cover its life */
{
    for (int low = h->first + t->leaves, high = h->last + t->leaves + 1; low < high; low /= 2, high /= 2) {
        if (low % 2)
            step(t, low++, h);
        if (high % 2)
            step(t, --high, h);
    }
}

static void stand(timeline *t, int at, const buffer *h)
{
    const range x = {h->offset, h->offset + h->bytes};
    ranges_add(t->mem, &t->at[at], x);
    for (; at; at /= 2)
        ranges_add(t->mem, &t->below[at], x);
}

static void sink(timeline *t, int i) /* run i, which may be higher than those below it in the heap */
{
    for (int low; (low = 2 * i + 1) < t->n_run; i = low) {
        if (low + 1 < t->n_run && t->run[low + 1].at->from < t->run[low].at->from)
            low++;
        if (t->run[i].at->from <= t->run[low].at->from)
            return;
        const run x = t->run[i];
        t->run[i] = t->run[low], t->run[low] = x;
    }
}

static void find(timeline *t, const ranges *r)
{
    if (r->n)
        t->run[t->n_run++] = (run){r->of, r->of + r->n};
}

static range next_of(timeline *t) /* the lowest that is left */
{
    const range x = *t->run[0].at++;
    if (t->run[0].at == t->run[0].end)
        t->run[0] = t->run[--t->n_run];
    sink(t, 0);
    return x;
}

static void find_around(timeline *t, int at, const buffer *h)
{
    (void)h;
    find(t, &t->below[at]);
    while (at /= 2)
        find(t, &t->at[at]);
}

/* The lowest gap that fits among the values placed so far that are alive at the same time; the tightest one. */
static int64_t best_fit(timeline *t, const buffer *h)
{
    int64_t at = 0, best = -1, room = INT64_MAX;
    t->n_run = 0;
    each_cover(t, h, find_around);
    for (int i = t->n_run / 2; i-- > 0;)
        sink(t, i);
    while (t->n_run && room > h->bytes) { /* none is tighter than one that it fills */
        const range x = next_of(t);
        const int64_t gap = x.from - at;
        if (gap >= h->bytes && gap < room)
            best = at, room = gap;
        at = x.to > at ? x.to : at;
    }
    return best < 0 ? at : best;
}

static int64_t most_alive(plan *p, buffer *const *all, int n)
{
    int64_t *change = arena_array(&p->mem, (size_t)p->n_kernel + 2, sizeof *change), most = 0, sum = 0;
    for (int i = 0; i < n; i++) {
        const int from = all[i]->first + (all[i]->over != NULL);
        if (from > all[i]->last)
            continue;
        change[from] += all[i]->bytes;
        change[all[i]->last + 1] -= all[i]->bytes;
    }
    for (int k = 0; k < p->n_kernel; k++) {
        sum += change[k];
        most = sum > most ? sum : most;
    }
    return most;
}

/* ---- results over operands ---- */
/* The operand that the result of a stage can take the place of: the one with the least room to spare, or NULL. */
static const node *dying_operand(const plan *p, int at, int which, const bool *taken)
{
    const kernel *k = &p->kernel[at];
    const buffer *w = &p->buffer[k->stage[which].node->id];
    const node *best = NULL;
    for (int i = 0; i <= which; i++)
        for (int j = 0; j < k->stage[i].n_load; j++) {
            const node *n = k->stage[i].load[j]->from;
            const buffer *r = &p->buffer[n->id];
            if (r->where == IN_ARENA && !r->own && r->first < at && r->last == at && !taken[n->id] &&
                r->bytes >= w->bytes && (!best || r->bytes < p->buffer[best->id].bytes) && reuse_legal(p, k, which, n))
                best = n;
        }
    return best;
}

static void find_own(plan *p)
{
    for (int k = 0; p->schema && k < p->n_kernel; k++) {
        const int at = schema_reuse(p->schema, &p->kernel[k]);
        if (at < 0)
            continue;
        p->rule_used[at] = true;
        for (int s = 0; s < p->kernel[k].n_stage; s++)
            p->buffer[p->kernel[k].stage[s].node->id].own = !strcmp(p->schema->rule[at].reuse, "none");
    }
}

static void find_reuse(plan *p)
{
    bool *taken = arena_array(&p->mem, (size_t)p->g->n + 1, sizeof *taken);
    for (int k = 0; k < p->n_kernel; k++)
        for (int s = 0; s < p->kernel[k].n_stage; s++) {
            stage *st = &p->kernel[k].stage[s];
            buffer *h = &p->buffer[st->node->id];
            if (st->scratch || h->where != IN_ARENA || h->own || !(st->over = h->over = dying_operand(p, k, s, taken)))
                continue;
            taken[h->over->id] = true;
        }
}

/* ---- places ---- */
static bool find_bytes(plan *p, err *e)
{
    for (int id = 0; id < p->g->n; id++) {
        buffer *h = &p->buffer[id];
        const node *v = p->g->node[id];
        const int width = stored_width(p, v);
        int64_t bytes;
        if (h->where != IN_ARENA)
            continue;
        if (!int_mul(h->layout.size, width, &bytes))
            return err_set(e, TS_MEMORY, "%s: %lld elements of %d bytes each, at most 2^63 - 1 bytes expected",
                           v->op->name, (long long)h->layout.size, width);
        h->bytes = target_aligned(p->on, bytes), h->index = id;
    }
    return true;
}

static int by_making(const void *a, const void *b)
{
    const buffer *x = *(buffer *const *)a, *y = *(buffer *const *)b;
    return x->first != y->first ? x->first - y->first : x->index - y->index;
}

/* Values that share memory are placed as one, alive from the first one's kernel to the last one's last reader. */
static int64_t place_all(plan *p, buffer **all, int n)
{
    buffer **placed = arena_array(&p->mem, (size_t)n + 1, sizeof *placed);
    const size_t most = (size_t)p->g->n + (size_t)p->n_kernel + 1;
    buffer **head = arena_array(&p->mem, most, sizeof *head); /* by node id: the first of those over it */
    int *last = arena_array(&p->mem, most, sizeof *last), m = 0;
    int64_t size = 0;
    qsort(all, (size_t)n, sizeof *all, by_making); /* what others lie over first */
    for (int i = 0; i < n; i++) {
        const int id = all[i]->index;
        head[id] = all[i]->over ? head[all[i]->over->id] : all[i];
        last[id] = all[i]->last;
        head[id]->last = head[id]->last > last[id] ? head[id]->last : last[id];
        if (head[id] == all[i])
            placed[m++] = all[i];
    }
    qsort(placed, (size_t)m, sizeof *placed, by_size);    /* those of their own last, behind all others */
    timeline t = timeline_make(&p->mem, p->n_kernel + 1); /* results live on after the last kernel */
    for (int i = 0; i < m; i++) {
        placed[i]->offset = placed[i]->own ? size : best_fit(&t, placed[i]);
        if (placed[i]->bytes && !placed[i]->own)
            each_cover(&t, placed[i], stand);
        if (placed[i]->offset + placed[i]->bytes > size)
            size = placed[i]->offset + placed[i]->bytes;
    }
    for (int i = 0; i < n; i++)
        all[i]->offset = head[all[i]->index]->offset, all[i]->last = last[all[i]->index];
    return size;
}

static void measure_updates(plan *p) /* which values lie over others is known by now */
{
    for (int k = 0; k < p->n_kernel; k++)
        if (p->kernel[k].n_stage == 1 && stage_updates(p->kernel[k].stage))
            kernel_measure(&p->kernel[k]);
}

static void find_roots(plan *p)
{
    for (int i = 0; i < p->n_root; i++) {
        buffer *h = &p->buffer[p->root[i]->id];
        if (!node_is_leaf(p->root[i]))
            h->where = IN_ARENA, h->last = p->n_kernel;
    }
}

static int add_rooms(plan *p, buffer **all) /* of the trips of scans, while these are done */
{
    int n = 0;
    for (int k = 0; k < p->n_kernel; k++) {
        buffer *room = p->kernel[k].scan ? p->kernel[k].scan->room : NULL;
        if (room)
            room->where = IN_ARENA, room->first = room->last = k, room->index = p->g->n + k, all[n++] = room;
    }
    return n;
}

bool pass_memory(plan *p, err *e)
{
    int n = 0;
    if (p->n_site)
        return plan_each_part(p, pass_memory, e);
    buffer **all = arena_array(&p->mem, (size_t)p->g->n + (size_t)p->n_kernel + 1, sizeof *all);
    beside_order(p);
    if (!p->part) /* the order of parts is the plan's, with transfers in between */
        carry_order(p);
    beside_number(p);
    find_lifetimes(p);
    find_roots(p);
    carry_in_place(p);
    if (!find_bytes(p, e))
        return false;
    for (int id = 0; id < p->g->n; id++)
        if (p->buffer[id].where == IN_ARENA)
            all[n++] = &p->buffer[id];
    n += add_rooms(p, all + n);
    find_own(p);
    if (!p->own_places)
        find_reuse(p);
    measure_updates(p);
    beside_lives(p, all, n);
    p->arena_bytes = place_all(p, all, n);
    p->lower_bound = most_alive(p, all, n);
    return true;
}
