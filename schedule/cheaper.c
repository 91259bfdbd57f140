/* cheaper.c - the pass that takes the cheaper way where an operation knows one: convolutions of 3 x 3 by Winograd.
 *
 * Requires: kernels from the fusion pass. Guarantees: kernels again, of a graph in which what an operation offers
 * stands in its place; all else is as it was. A kernel is left alone where its first fitting rule has wishes, which are
 * meant for what the model says; and where the plan is to run the graph as written. */
#include "schedule/schema.h"

#include <string.h>

static bool ruled(const plan *p, const kernel *k)
{
    const int at = p->schema ? schema_match(p->schema, k, 0) : -1;
    const rule *r = at < 0 ? NULL : &p->schema->rule[at];
    if (!r || !(r->n_loops || r->n_layout || !r->fuse || r->compute))
        return false;
    return p->rule_used[at] = true;
}

typedef struct search {
    plan *p;
    bool *open; /* by node id: the whole of a kernel that no rule wishes something of */
} search;

static bool *find_open(plan *p)
{
    bool *open = arena_array(&p->mem, (size_t)p->g->n + 1, sizeof *open);
    for (int i = 0; i < p->n_kernel; i++) {
        const node *n = p->kernel[i].whole;
        if (n->op->cheaper && !open[n->id])
            open[n->id] = !ruled(p, &p->kernel[i]);
    }
    return open;
}

static const node *cheaper(void *user, const node *old, const node *now)
{
    const search *s = user;
    plan *p = s->p;
    const node *other = now->op->cheaper && s->open[old->id] ? now->op->cheaper(p->g, now) : NULL;
    if (!other)
        return err_is(&p->g->err) ? NULL : now;
    g_label(p->g, other, old->label);
    return other;
}

bool pass_cheaper(plan *p, err *e)
{
    const node **root = arena_array(&p->mem, (size_t)p->n_root + 1, sizeof *root);
    if (p->as_written)
        return true;
    search s = {p, find_open(p)};
    if (!g_rewrite(p->g, p->n_root, p->root, cheaper, &s, root))
        return err_set(e, p->g->err.code, "%s", p->g->err.text);
    if (!memcmp(root, p->root, (size_t)p->n_root * sizeof *root))
        return true;
    p->root = root, p->n_kernel = 0;
    return pass_fuse(p, e);
}
