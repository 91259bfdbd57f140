/* dots.c - the pass that takes products of integers where the target has an instruction for them.
 *
 * Requires: a graph. Guarantees: roots of the same values, but that sums of what was quantized are not rounded. */
#include "schedule/passes/passes.h"

typedef struct search {
    plan *p;
    bool *done, any; /* by node id: something else stands for it; for any of them */
} search;

static const node *dots_of(const plan *p, graph *g, const node *n)
{
    return n->op->in_dots ? n->op->in_dots(g, n, p->on->dot->a) : NULL;
}

static const node *in_dots(void *user, const node *old, const node *now)
{
    search *s = user;
    graph *g = s->p->g;
    const node *y = dots_of(s->p, g, now);
    if (!y)
        return err_is(&g->err) ? NULL : now;
    s->done[old->id] = s->any = true;
    g_label(g, y, old->label);
    return y;
}

bool pass_dots(plan *p, err *e)
{
    const node **root = arena_array(&p->mem, (size_t)p->n_root + 1, sizeof *root);
    search s = {p, arena_array(&p->mem, (size_t)p->g->n + 1, sizeof *s.done), false};
    if (!p->on->dot || p->as_given)
        return true;
    if (!g_rewrite(p->g, p->n_root, p->root, in_dots, &s, root))
        return err_set(e, p->g->err.code, "%s", p->g->err.text);
    if (s.any && (!p->n_variable || extents_rewrite(p, &(extents_rewriting){root, s.done, dots_of})))
        p->root = root;
    return true;
}
