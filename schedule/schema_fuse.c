/* schema_fuse.c - the pass that takes kernels apart again where a schema says "fuse": "none".
 *
 * Requires: kernels from the fusion pass. Guarantees: no kernel whose first fitting rule says so computes more than one
 * node, but for views. Fusion runs again with those nodes kept apart, since what was fused with them may
 * now go elsewhere. */
#include "schedule/schema.h"

static bool computed_elsewhere(const plan *p, const kernel *k,
                               const node *n) /* n is the value of some other kernel's stage */
{
    for (int i = 0; i < p->n_kernel; i++)
        for (int s = 0; s < p->kernel[i].n_stage; s++)
            if (p->kernel[i].stage[s].node == n && &p->kernel[i] != k)
                return true;
    return false;
}

static bool mark(plan *p, const kernel *k, const node *n) /* what k computes for n, n included; true if that is new */
{
    if (node_is_leaf(n) || p->apart[n->id] || computed_elsewhere(p, k, n))
        return false;
    p->apart[n->id] = true;
    for (int i = 0; i < n->n_in; i++)
        mark(p, k, n->in[i]);
    return true;
}

static bool mark_all(plan *p)
{
    bool more = false;
    for (int i = 0; i < p->n_kernel; i++) {
        const kernel *k = &p->kernel[i];
        const int at = schema_match(p->schema, k, 0);
        if (at < 0 || p->schema->rule[at].fuse)
            continue;
        p->rule_used[at] = true;
        for (int s = 0; s < k->n_stage; s++)
            more = mark(p, k, k->stage[s].node) || more;
    }
    return more;
}

bool pass_apart(plan *p, err *e)
{
    if (!p->schema)
        return true;
    p->apart = arena_array(&p->mem, (size_t)p->g->n + 1, sizeof *p->apart);
    while (mark_all(p)) {
        p->n_kernel = 0;
        if (!pass_fuse(p, e))
            return false;
    }
    return true;
}
