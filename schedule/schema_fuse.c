/* schema_fuse.c - the pass that takes kernels apart again where a schema says "fuse": "none".
 *
 * Requires: kernels from the fusion pass. Guarantees: no kernel whose first fitting rule says so computes more than one
 * node, but for views. Fusion runs again with those nodes kept apart, since what was fused with them may
 * now go elsewhere. */
#include "schedule/schema.h"

static int *kernels_by_node(plan *p) /* one more than the kernel of a stage whose value it is; 0: none */
{
    int *at = arena_array(&p->mem, (size_t)p->g->n + 1, sizeof *at);
    for (int i = 0; i < p->n_kernel; i++)
        for (int s = 0; s < p->kernel[i].n_stage; s++)
            at[p->kernel[i].stage[s].node->id] = i + 1;
    return at;
}

/* What kernel k computes for n, n included; true if that is new */
static bool mark(plan *p, const int *at, int k, const node *n)
{
    if (node_is_leaf(n) || p->apart[n->id] || (at[n->id] && at[n->id] != k + 1))
        return false;
    p->apart[n->id] = true;
    for (int i = 0; i < n->n_in; i++)
        mark(p, at, k, n->in[i]);
    return true;
}

static bool mark_all(plan *p)
{
    const int *at_kernel = kernels_by_node(p);
    bool more = false;
    for (int i = 0; i < p->n_kernel; i++) {
        const kernel *k = &p->kernel[i];
        const int at = schema_match(p->schema, k, 0);
        if (at < 0 || p->schema->rule[at].fuse)
            continue;
        p->rule_used[at] = true;
        for (int s = 0; s < k->n_stage; s++)
            more = mark(p, at_kernel, i, k->stage[s].node) || more;
    }
    return more;
}

bool pass_apart(plan *p, err *e)
{
    if (!p->schema)
        return true;
    p->apart = arena_array(&p->mem, (size_t)p->g->n + 1, sizeof *p->apart);
    while (mark_all(p)) {
        p->fused = false;
        if (!plan_pass(p, PASS_FUSE, e))
            return false;
    }
    return true;
}
