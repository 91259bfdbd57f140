/* copy.c - tensors of one graph in another: the same nodes, leaves with the same values, recipes still visible. */
#include "graph/ir/graph.h"
#include "graph/ir/trip.h"

#include <stdlib.h>

typedef struct copying {
    graph *to;
    int n;            /* of the graph that is copied from */
    const node **now; /* by id there */
} copying;

static bool copy_all(copying *c, int n, const node *const *root);

/* The same call in the other graph; what a trip is made of first. */
static const node *call(copying *c, const node *n, const node *const *in)
{
    graph *g = c->to;
    if (!n->trip)
        return g_again(g, n, n->n_in, in);
    if (!copy_all(c, n->trip->n_root, n->trip->root))
        return NULL;
    const node **root = arena_array(&g->mem, (size_t)n->trip->n_root + 1, sizeof *root);
    for (int i = 0; i < n->trip->n_root; i++)
        root[i] = c->now[n->trip->root[i]->id];
    return g_make_scan(g, n->op, n->n_in, in, n->attr, op_n_attr(n->op), &(scan_trip){n->trip->n_root, root});
}

static const node *copied(copying *c, const node *n)
{
    if (n->leaf)
        return g_leaf(c->to, n->op, n->label, &n->type, n->leaf);
    const node **in = heap_array((size_t)n->n_in + 1, sizeof *in);
    for (int i = 0; i < n->n_in; i++)
        in[i] = c->now[n->in[i]->id];
    const int before = c->to->n;
    const node *made = call(c, n, in);
    free(in);
    if (made && n->origin)
        made = g_output(c->to, made, c->now[n->origin->id], n->index);
    if (made && !made->leaf)
        g_label(c->to, made, n->label);
    if (n->back)
        g_back(c->to, before);
    return made;
}

static bool copy_all(copying *c, int n, const node *const *root)
{
    int count;
    ENDED_BY(heap_free) const node **need = g_reached_make(n, root, &count);
    bool ok = true;
    for (int i = 0; ok && i < count; i++)
        if (!c->now[need[i]->id])
            ok = (c->now[need[i]->id] = copied(c, need[i])) != NULL;
    return ok;
}

bool g_copy(graph *to, const graph *from, int n, const node *const *root, const node **now)
{
    copying c = {.to = to, .n = from->n, .now = now};
    if (!copy_all(&c, n, root))
        return false;
    for (int i = 0; i < from->n_group; i++) {
        const node *result = now[from->group[i].result->id];
        if (result && !result->leaf)
            g_group_again(to, from, &from->group[i], from->n, now);
    }
    return true;
}
