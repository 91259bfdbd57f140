/* apart.c - the pass that takes kernels apart again where a schema says "fuse": "none".
 *
 * Requires: kernels from the fusion pass. Guarantees: no kernel whose first fitting rule says so computes more than one
 * node, but for views; a stage, an operation or a group within a kernel of which a rule says so is a kernel of its own.
 * Fusion runs again with parts: a node fuses with those of its own part only, and what was fused with it may now
 * go elsewhere. */
#include "graph/ir/group.h"
#include "schedule/fuse/fuse.h"
#include "schedule/passes/passes.h"
#include "schedule/schema/schema.h"

typedef struct parting {
    plan *p;
    int *kernel; /* by node id: one more than that of a stage whose value it is; 0: none */
    bool more;   /* something is in a part that was in none */
} parting;

static void find_kernels(parting *a)
{
    for (int i = 0; i < a->p->n_kernel; i++)
        for (int s = 0; s < a->p->kernel[i].n_stage; s++)
            a->kernel[a->p->kernel[i].stage[s].node->id] = i + 1;
}

/* ---- numbers of parts ---- */
static int part_of_node(const node *n)
{
    return 1 + n->id;
}

static int part_of_stage(const plan *p, const node *n)
{
    return 1 + p->g->n + n->id;
}

static int part_of_group(const plan *p, int which)
{
    return 1 + 2 * p->g->n + which;
}

/* ---- what is in them ---- */
static void put(parting *a, const node *n, int part, const char *by)
{
    if (node_is_leaf(n) || a->p->apart[n->id])
        return;
    a->p->apart[n->id] = part, a->p->apart_by[n->id] = by, a->more = true;
}

/* What kernel k computes for n, n included: each by itself */
static void part_kernel(parting *a, int k, const node *n, const char *by)
{
    if (node_is_leaf(n) || a->p->apart[n->id] || (a->kernel[n->id] && a->kernel[n->id] != k + 1))
        return;
    put(a, n, part_of_node(n), by);
    for (int i = 0; i < n->n_in; i++)
        part_kernel(a, k, n->in[i], by);
}

/* What a stage computes, all as one part; down to values that stages keep */
static void part_stage(parting *a, const node *n, int part, const char *by)
{
    put(a, n, part, by);
    for (int i = 0; i < n->n_in; i++)
        if (!node_is_leaf(n->in[i]) && !a->kernel[n->in[i]->id] && !a->p->apart[n->in[i]->id])
            part_stage(a, n->in[i], part, by);
}

/* The rule's name if it says "none", else NULL. */
static const char *says_none(const plan *p, int at)
{
    if (at < 0 || p->schema->rule[at].fuse)
        return NULL;
    p->rule_used[at] = true;
    return p->schema->rule[at].name;
}

static void part_kernels(parting *a)
{
    for (int i = 0; i < a->p->n_kernel; i++) {
        const kernel *k = &a->p->kernel[i];
        const char *all = says_none(a->p, schema_match(a->p->schema, k, 0)), *one;
        if (all && !a->p->apart[k->whole->id])
            a->p->was[k->whole->id] = k->label;
        for (int s = 0; s < k->n_stage; s++) {
            const node *n = k->stage[s].node;
            if (all)
                part_kernel(a, i, n, all);
            else if (!a->p->apart[n->id] && (one = says_none(a->p, schema_match_stage(a->p->schema, k, s, 0))))
                part_stage(a, n, part_of_stage(a->p, n), one);
        }
    }
}

/* Operations within kernels, then groups of them from the inside out */
static void part_operations(parting *a)
{
    const plan *p = a->p;
    ENDED_BY(arena_free) arena mem = {0};
    const node **need = arena_array(&mem, (size_t)p->g->n + 1, sizeof *need), **inside;
    bool *needed = arena_array(&mem, (size_t)p->g->n + 1, sizeof *needed);
    const int count = g_reach(p->n_root, p->root, need);
    for (int i = 0; i < count; i++) {
        needed[need[i]->id] = true;
        const char *one = node_is_leaf(need[i])
                              ? NULL
                              : says_none(p, schema_match_part(p->schema, need[i]->op->name, need[i]));
        if (one)
            put(a, need[i], part_of_node(need[i]), one);
    }
    for (int i = 0; i < p->g->n_group; i++) {
        const group *q = &p->g->group[i];
        const char *one = needed[q->result->id] ? says_none(p, schema_match_part(p->schema, q->op->name, q->result))
                                                : NULL;
        if (!one)
            continue;
        const int n = group_nodes(p->g, q, &mem, &inside);
        for (int k = 0; k < n; k++)
            put(a, inside[k], part_of_group(p, i), one);
    }
}

static bool part_all(plan *p)
{
    parting a = {.p = p, .kernel = arena_array(&p->mem, (size_t)p->g->n + 1, sizeof *a.kernel)};
    find_kernels(&a);
    part_kernels(&a);
    part_operations(&a);
    return a.more;
}

bool pass_apart(plan *p, err *e)
{
    bool none = false;
    for (int i = 0; p->schema && i < p->schema->n_rule; i++)
        none = none || !p->schema->rule[i].fuse;
    if (!none)
        return true;
    p->apart = arena_array(&p->mem, (size_t)p->g->n + 1, sizeof *p->apart);
    p->was = arena_array(&p->mem, (size_t)p->g->n + 1, sizeof *p->was);
    p->apart_by = arena_array(&p->mem, (size_t)p->g->n + 1, sizeof *p->apart_by);
    while (part_all(p)) {
        p->fused = false;
        if (!fuse_kernels(p, e))
            return false;
    }
    return true;
}
