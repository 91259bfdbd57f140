/* dots.c - the pass that takes products of integers where the target has an instruction for them.
 *
 * Requires: a graph. Guarantees: roots of the same values, but that sums of what was quantized are not rounded. */
#include "schedule/passes/passes.h"

typedef struct search {
    plan *p;
    bool *done; /* by node id: something else stands for it */
} search;

static const node *in_dots(void *user, const node *old, const node *now)
{
    const search *s = user;
    graph *g = s->p->g;
    const node *y = now->op->in_dots ? now->op->in_dots(g, now, s->p->on->dot->a) : NULL;
    if (!y)
        return err_is(&g->err) ? NULL : now;
    s->done[old->id] = true;
    g_label(g, y, old->label);
    return y;
}

static bool is_done(const void *user, const node *old)
{
    return ((const search *)user)->done[old->id];
}

/* ---- at a small extent ---- */
static const node *of_bytes(graph *g, const node *n)
{
    return n->op->in_dots(g, n, TS_U8);
}

static const node *of_halves(graph *g, const node *n)
{
    return n->op->in_dots(g, n, TS_I16);
}

bool pass_dots(plan *p, err *e)
{
    const node **root = arena_array(&p->mem, (size_t)p->n_root + 1, sizeof *root);
    search s = {p, arena_array(&p->mem, (size_t)p->g->n + 1, sizeof *s.done)};
    bool any = false;
    if (!p->on->dot || p->as_written)
        return true;
    const int n = p->g->n;
    if (!g_rewrite(p->g, p->n_root, p->root, in_dots, &s, root))
        return err_set(e, p->g->err.code, "%s", p->g->err.text);
    for (int i = 0; i < n; i++)
        any = any || s.done[i];
    const extents_rewriting there = {root, is_done, p->on->dot->a == TS_U8 ? of_bytes : of_halves, &s};
    if (any && (!p->n_variable || extents_rewrite(p, &there)))
        p->root = root;
    return true;
}
