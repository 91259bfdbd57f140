/* checkpointing.c - the pass that takes values from the forward pass and has them computed again in the backward pass.
 *
 * Requires: kernels from the fusion pass, which say what the backward pass reads from memory. Guarantees: kernels
 * again, of a graph in which the backward pass reads copies of what the rules give up; each copy is computed from
 * leaves and from values that are kept, and its kernel comes right before the first that needs it. Copies are
 * materialised where their originals were, so that every sum is formed of the same expressions in the same order. */
#include "schedule/passes/checkpointing.h"
#include "graph/ir/custom.h"
#include "graph/ir/group.h"
#include "graph/ir/rule.h"
#include "schedule/fuse/fuse.h"
#include "schedule/passes/passes.h"
#include "schedule/plan/checkpointing.h"
#include "schedule/schema/schema.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- what rules fit ---- */
static bool fits(const rule *r, const char *what, const char *label, dtype d)
{
    bool found = !r->n_op;
    for (int i = 0; i < r->n_op; i++)
        found = found || !strcmp(r->op[i], what);
    return found && (!r->glob || !fnmatch(r->glob, label, 0)) && (!r->dtype || !strcmp(r->dtype, ts_dtype_name(d)));
}

static bool computed_forward(const retake *r, const node *n)
{
    return !node_is_leaf(n) && n->n_in && !r->back[n->id] && !custom_impure(n);
}

enum { OPEN = -1, STAYS = -2 };
static void name(retake *r, int at, const node *n, int *count)
{
    if (!computed_forward(r, n))
        return;
    ++*count;
    if (r->rule[n->id] == OPEN)
        r->rule[n->id] = r->p->schema->rule[at].recompute ? at : STAYS;
}

static void name_group(retake *r, int at, const group *q, int *count)
{
    ENDED_BY(arena_free) arena mem = {0};
    const node **inside;
    const int n = group_nodes(r->p->g, q, &mem, &inside);
    for (int i = 0; i < n; i++)
        name(r, at, inside[i], count);
}

/* The first rule that fits decides; what a recipe became is named with it. */
static void name_all(retake *r, int *count)
{
    const graph *g = r->p->g;
    for (int i = 0; i < r->p->schema->n_rule; i++) {
        const rule *u = &r->p->schema->rule[i];
        if (!u->tells_recompute || u->shares || r->p->schema->aside[i])
            continue;
        for (int k = 0; k < r->n_need; k++)
            if (fits(u, r->need[k]->op->name, r->need[k]->label, r->need[k]->type.dtype))
                name(r, i, r->need[k], &count[i]);
        for (int k = 0; k < g->n_group; k++) {
            const group *q = &g->group[k];
            if (!r->back[q->result->id] && fits(u, q->op->name, q->result->label, q->result->type.dtype))
                name_group(r, i, q, &count[i]);
        }
    }
    for (int i = 0; i < r->p->n_root; i++)
        r->rule[r->p->root[i]->id] = STAYS;
}

/* ---- what the backward pass reads ---- */
static void find_kept(retake *r)
{
    for (int k = 0; k < r->p->n_kernel; k++)
        for (int i = 0; i < r->p->kernel[k].n_stage; i++) {
            const stage *s = &r->p->kernel[k].stage[i];
            r->solid[s->node->id] = true;
            for (int j = 0; j < s->n_load && r->back[s->node->id]; j++) {
                const node *n = s->load[j]->from;
                if (computed_forward(r, n))
                    r->kept[n->id] = true;
            }
        }
}

/* ---- shares of what no rule speaks of ---- */
typedef struct worth {
    const node *of;
    double bytes, flops; /* what it takes to compute it from what is kept around it */
} worth;

static int by_worth(const void *a, const void *b)
{
    const worth *x = a, *y = b;
    const double gain = y->bytes * (x->flops + 1) - x->bytes * (y->flops + 1);
    return gain > 0 ? 1 : gain < 0 ? -1 : x->of->id - y->of->id;
}

static int worth_all(const retake *r, worth *out, double *bytes)
{
    double *flops = arena_array(&r->p->mem, (size_t)r->p->g->n + 1, sizeof *flops);
    int n = 0;
    for (int k = 0; k < r->n_need; k++) {
        const node *x = r->need[k];
        if (!computed_forward(r, x))
            continue;
        flops[x->id] = node_flops(x);
        for (int i = 0; i < x->n_in; i++)
            flops[x->id] += r->kept[x->in[i]->id] ? 0 : flops[x->in[i]->id];
        if (r->kept[x->id] && r->rule[x->id] == OPEN)
            *bytes += (double)type_bytes(&x->type), out[n++] = (worth){x, (double)type_bytes(&x->type), flops[x->id]};
    }
    return n;
}

/* What gives most bytes for its flops goes first. */
static void name_shares(retake *r, int at, int *count)
{
    const rule *u = &r->p->schema->rule[at];
    worth *all = arena_array(&r->p->mem, (size_t)r->n_need + 1, sizeof *all);
    double bytes = 0, taken = 0;
    const int n = worth_all(r, all, &bytes);
    qsort(all, (size_t)n, sizeof *all, by_worth);
    for (int i = 0; i < n && u->recompute && taken < bytes * u->shares / RULE_SHARES; i++, ++*count)
        r->rule[all[i].of->id] = at, taken += all[i].bytes;
}

/* ---- what is computed again ---- */
/* Whether copies may be computed from n, because it is in memory anyway. */
static bool is_ground(const retake *r, const node *n)
{
    return !computed_forward(r, n) || r->stays[n->id] || (r->kept[n->id] && !retake_forgoes(r, n));
}

static void find_sources(retake *r)
{
    for (int k = 0; k < r->n_need; k++) {
        const node *n = r->need[k];
        int from = retake_forgoes(r, n) ? r->rule[n->id] : OPEN;
        for (int i = 0; from < 0 && i < n->n_in; i++)
            from = r->from[n->in[i]->id];
        r->from[n->id] = is_ground(r, n) ? OPEN : from;
    }
}

static void ask(retake *r, const node *n, int due)
{
    if (due < r->due[n->id])
        r->due[n->id] = due;
}

static void take(retake *r, const node *n, int whose)
{
    if (r->copy[n->id] < 0)
        r->copy[n->id] = r->from[n->id] >= 0 ? r->from[n->id] : whose;
}

/* From the end on, so that all readers of a copy are known before its operands are visited. A copy is due at the kernel
 * that first reads it; what is inlined counts where its reader stands. */
static void find_copies(retake *r)
{
    for (int id = 0; id < r->p->g->n; id++)
        r->copy[id] = OPEN, r->direct[id] = false, r->due[id] = INT_MAX;
    find_sources(r);
    for (int k = r->n_need; k-- > 0;) {
        const node *n = r->need[k];
        const bool back = r->back[n->id];
        const int due = back && (r->solid[n->id] || r->due[n->id] == INT_MAX) ? n->id : r->due[n->id];
        for (int i = 0; i < n->n_in; i++) {
            const node *x = n->in[i];
            if (back && r->from[x->id] >= 0)
                take(r, x, r->from[x->id]), r->direct[x->id] = true;
            else if (!back && r->copy[n->id] >= 0 && !is_ground(r, x))
                take(r, x, r->copy[n->id]);
            if (back || r->copy[n->id] >= 0)
                ask(r, x, due);
        }
    }
}

/* ---- copies ---- */
/* Replaces the operands of a copy. A value that is kept is read through "rematerialize", so that the copy is not equal
 * to its original. */
static void set_grounds(retake *r, const node *n, const node **now)
{
    bool differs = false;
    for (int i = 0; i < n->n_in; i++) {
        const node *x = n->in[i];
        if (r->copy[x->id] < 0 && !node_is_leaf(x))
            now[x->id] = g_rematerialized(r->p->g, x);
        differs = differs || r->copy[x->id] >= 0 || now[x->id] != x;
    }
    if (!differs)
        now[n->in[0]->id] = g_rematerialized(r->p->g, n->in[0]);
}

static bool make_copies(retake *r, const node **now)
{
    const node **root = arena_array(&r->p->mem, (size_t)r->n_need + 1, sizeof *root);
    int n = 0;
    for (int k = 0; k < r->n_need; k++)
        now[r->need[k]->id] = r->copy[r->need[k]->id] >= 0 ? NULL : r->need[k];
    for (int k = 0; k < r->n_need; k++)
        if (r->copy[r->need[k]->id] >= 0)
            set_grounds(r, r->need[k], now), root[n++] = r->need[k];
    return g_remake(r->p->g, n, root, now);
}

static const node **by_id(plan *p)
{
    return arena_array(&p->mem, (size_t)p->g->n + 1, sizeof(const node *));
}

/* The backward pass over copies; copy: by id. */
static bool turn(retake *r, const node *const *copy, const node **now)
{
    plan *p = r->p;
    const node **root = arena_array(&p->mem, (size_t)p->n_root + 1, sizeof *root);
    for (int k = 0; k < r->n_need; k++) {
        const node *n = r->need[k];
        now[n->id] = r->back[n->id] ? NULL : r->direct[n->id] ? copy[n->id] : n;
    }
    if (!g_remake(p->g, p->n_root, p->root, now))
        return false;
    for (int i = 0; i < p->n_root; i++)
        root[i] = now[p->root[i]->id];
    p->root = root;
    return true;
}

static void note_all(const retake *r, checkpointing *out, const node *const *copy, const node *const *now)
{
    plan *p = r->p;
    const buffer *before = p->buffer;
    out->n = p->g->n;
    out->node = arena_array(&p->mem, (size_t)out->n + 1, sizeof *out->node);
    out->value = arena_array(&p->mem, (size_t)r->n_need + 1, sizeof *out->value);
    for (int id = 0; id < out->n; id++)
        out->node[id] = (repeat){.due = 2 * id + 1, .rule = -1};
    for (int k = 0; k < r->n_need; k++) {
        const node *n = r->need[k];
        const int id = n->id;
        const layout *like = r->solid[id] ? &before[id].layout : NULL;
        if (r->back[id])
            out->node[now[id]->id].due = 2 * id + 1;
        out->node[now[id]->id].like = out->node[id].like = like;
        if (r->copy[id] < 0)
            continue;
        out->node[copy[id]->id] = (repeat){2 * r->due[id], r->copy[id], r->solid[id], like};
        out->node[id].solid = r->solid[id];
        if (retake_forgoes(r, n))
            out->value[out->n_value++] = (forgone){r->rule[id], n, copy[id]};
    }
}

static bool repeat_all(retake *r, checkpointing *out, err *e)
{
    plan *p = r->p;
    const node **copy = by_id(p);
    bool ok = make_copies(r, copy);
    const node **now = by_id(p);
    ok = ok && turn(r, copy, now);
    if (!ok)
        return err_set(e, p->g->err.code, "%s", p->g->err.text);
    note_all(r, out, copy, now);
    p->fused = false;
    return fuse_kernels(p, e);
}

static bool is_asked_for(const plan *p)
{
    bool found = false;
    for (int i = 0; p->schema && i < p->schema->n_rule; i++)
        found = found || (p->schema->rule[i].tells_recompute && !p->schema->aside[i]);
    return found;
}

static void *each(plan *p, size_t size)
{
    return arena_array(&p->mem, (size_t)p->g->n + 1, size);
}

static bool alive_without(const plan *p, int which, int64_t *most, err *e)
{
    plan trial = *p;
    schema keeping = *p->schema;
    trial.mem = (arena){0};
    keeping.rule = arena_array(&trial.mem, (size_t)keeping.n_rule + 1, sizeof *keeping.rule);
    memcpy(keeping.rule, p->schema->rule, (size_t)keeping.n_rule * sizeof *keeping.rule);
    keeping.rule[which].recompute = false;
    trial.schema = &keeping, trial.rule_used = arena_array(&trial.mem, (size_t)keeping.n_rule + 1, sizeof(bool));
    trial.checkpointing = NULL, trial.fused = false, trial.trial = true;
    const bool ok = plan_run(&trial, PASS_FUSE, N_PASS, e);
    *most = trial.lower_bound;
    arena_free(&trial.mem);
    return ok;
}

/* Plans once more for each rule that gives something up, as if it did not: c->without. */
static bool compare(plan *p, checkpointing *c, err *e)
{
    bool ok = true;
    c->without = arena_array(&p->mem, (size_t)p->schema->n_rule + 1, sizeof *c->without);
    for (int i = 0; ok && i < p->schema->n_rule; i++)
        ok = !p->schema->rule[i].recompute || alive_without(p, i, &c->without[i], e);
    return ok;
}

bool pass_checkpointing(plan *p, err *e)
{
    if (!is_asked_for(p))
        return true;
    const int count = g_reach(p->n_root, p->root, NULL);
    retake r = {.p = p, .n_need = count, .need = each(p, sizeof *r.need)};
    checkpointing *out = p->checkpointing = arena_get(&p->mem, sizeof *out);
    r.back = each(p, sizeof *r.back), r.kept = each(p, sizeof *r.kept), r.solid = each(p, sizeof *r.solid);
    r.stays = each(p, sizeof *r.stays), r.direct = each(p, sizeof *r.direct);
    r.rule = each(p, sizeof *r.rule), r.from = each(p, sizeof *r.from), r.copy = each(p, sizeof *r.copy);
    r.due = each(p, sizeof *r.due);
    out->fits = arena_array(&p->mem, (size_t)p->schema->n_rule + 1, sizeof *out->fits);
    g_reach(p->n_root, p->root, r.need);
    for (int id = 0; id < p->g->n; id++)
        r.rule[id] = r.from[id] = OPEN;
    g_is_back(p->g, r.back);
    name_all(&r, out->fits);
    find_kept(&r);
    for (int i = 0; i < p->schema->n_rule; i++)
        if (p->schema->rule[i].shares)
            name_shares(&r, i, &out->fits[i]);
    find_copies(&r);
    retake_cut(&r);
    find_copies(&r);
    bool any = false;
    for (int k = 0; k < count; k++) {
        const int id = r.need[k]->id;
        out->backward = out->backward || r.back[id];
        any = any || r.copy[id] >= 0;
    }
    return !any || ((p->trial || compare(p, out, e)) && repeat_all(&r, out, e));
}
