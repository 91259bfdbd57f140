/* extents_trip.c - extents within trips. What of a trip follows variables is found with all else of the graph that the
 * scan is of (extents.c). The plan of one trip has a graph of its own, in which weights were computed and results
 * are apart: both graphs are walked side by side, and what a node was is what it follows. */
#include "graph/ir/trip.h"
#include "schedule/passes/passes.h"
#include "schedule/plan/extents.h"

#include <stdlib.h>

bool extents_within(const plan *p, const node *scan)
{
    int n;
    ENDED_BY(heap_free) const node **need = g_reached_make(scan->trip->n_root, scan->trip->root, &n);
    bool any = false;
    for (int i = 0; i < n && !any; i++)
        any = (need[i]->id < p->n_varies && (p->varies[need[i]->id] || p->sized[need[i]->id])) ||
              (need[i]->trip && extents_within(p, need[i]));
    return any;
}

typedef struct taking {
    plan *q;          /* of the trip */
    const plan *p;    /* around it */
    const node **was; /* by id of nodes of q: of p's graph, what it stands for */
    const node **open;
    int n_open;
} taking;

/* Of two scans of which one makes all that the other does, the one that is left is met as itself, too. */
static bool is_joined(const node *now, const node *was)
{
    return now->trip && now->trip->n_root != was->trip->n_root;
}

static void take(taking *t, const node *now, const node *was)
{
    if (!t->was[now->id] && !is_joined(now, was))
        t->was[now->id] = was, t->open[t->n_open++] = now;
}

static const node *result_of(const node *now, const node *was) /* the node that it is by another name, or itself */
{
    return now->op != was->op && !now->leaf ? now->in[0] : now;
}

typedef struct moving {
    const node *now, *was;
    arena *mem;
} moving;

static const expr *moved(void *user, const expr *x)
{
    const moving *m = user;
    int i = 0;
    if (x->kind != X_LOAD)
        return x;
    while (m->was->in[i] != x->from)
        MUST(++i < m->was->n_in);
    return x_load(m->mem, m->now->in[i], x->arg);
}

static void inherit(taking *t, const node *now)
{
    const node *was = t->was[now->id], *own = result_of(now, was);
    const expr *x = t->p->sized[was->id];
    t->q->varies[now->id] = t->p->varies[was->id];
    if (own != now)
        take(t, own, was);
    for (int i = 0; own == now && !now->leaf && i < now->n_in; i++)
        take(t, now->in[i], was->in[i]);
    for (int i = 0; own == now && now->trip && i < now->trip->n_root; i++)
        take(t, now->trip->root[i], was->trip->root[i]);
    if (x && own == now && !now->leaf)
        t->q->sized[now->id] = x_map(&t->q->mem, x, moved, &(moving){now, was, &t->q->mem});
}

void extents_inherit(plan *q, const plan *p, const node *const *was)
{
    const size_t nodes = (size_t)q->g->n + 1;
    ENDED_BY(heap_free)
    const node **stands = heap_array(nodes, sizeof *stands), **open = heap_array(nodes, sizeof *open);
    taking t = {.q = q, .p = p, .was = stands, .open = open};
    q->n_varies = q->g->n;
    q->varies = arena_array(&q->mem, nodes, sizeof *q->varies);
    q->sized = arena_array(&q->mem, nodes, sizeof *q->sized);
    for (int i = 0; i < q->n_root; i++)
        take(&t, q->root[i], was[i]);
    while (t.n_open)
        inherit(&t, open[--t.n_open]);
}
