/* checkpointing.c - what recomputing amounts to, asked of a plan: where copies stand, what each rule saves. */
#include "schedule/passes/checkpointing.h"

#include <string.h>

static const repeat *of(const plan *p, const node *n)
{
    return p->checkpointing && n->id < p->checkpointing->n ? &p->checkpointing->node[n->id] : NULL;
}

int checkpointing_due(const plan *p, const node *n)
{
    const repeat *q = of(p, n);
    return q ? q->due : 2 * n->id + 1;
}

bool checkpointing_solid(const plan *p, const node *n)
{
    const repeat *q = of(p, n);
    return q && q->solid;
}

const layout *checkpointing_like(const plan *p, const node *n)
{
    const repeat *q = of(p, n);
    return q ? q->like : NULL;
}

int checkpointing_rule(const plan *p, const node *n)
{
    const repeat *q = of(p, n);
    return q ? q->rule : -1;
}

bool checkpointing_joins(const plan *p, const node *n, const node *first)
{
    return checkpointing_rule(p, n) < 0 ||
           (checkpointing_rule(p, first) >= 0 && checkpointing_due(p, n) == checkpointing_due(p, first));
}

/* ---- what is saved ---- */
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
    bool good = true;
    for (int i = PASS_FUSE; good && i < N_PASS; i++)
        good = plan_pass(&trial, (pass_number)i, e);
    *most = trial.lower_bound;
    arena_free(&trial.mem);
    return good;
}

bool checkpointing_compare(plan *p, checkpointing *c, err *e)
{
    bool good = true;
    c->without = arena_array(&p->mem, (size_t)p->schema->n_rule + 1, sizeof *c->without);
    for (int i = 0; good && i < p->schema->n_rule; i++)
        good = !p->schema->rule[i].recompute || alive_without(p, i, &c->without[i], e);
    return good;
}

saving checkpointing_saving(const plan *p, int which)
{
    saving s = {0};
    const checkpointing *c = p->checkpointing;
    for (int id = 0; c && id < c->n; id++)
        if (c->node[id].rule == which)
            s.flops += node_flops(p->g->node[id]);
    for (int i = 0; c && i < c->n_value; i++)
        if (c->value[i].rule == which)
            s.values++, s.bytes += (double)type_bytes(&c->value[i].value->type);
    if (s.values && c->without)
        s.peak = (double)(c->without[which] - p->lower_bound);
    return s;
}

/* ---- rules in vain ---- */
static void add_name(text *t, const char *name, const char **had, int *n, int cap)
{
    for (int i = 0; i < *n; i++)
        if (!strcmp(had[i], name))
            return;
    if (*n == cap)
        return;
    text_add(t, "%s%s", *n ? ", " : "", name);
    had[(*n)++] = name;
}

/* Groups and operations of the forward pass. */
static void add_forward(text *t, const plan *p)
{
    enum { MOST = 80 };
    const char *had[MOST];
    arena mem = {0};
    const node **need = arena_array(&mem, (size_t)p->g->n + 1, sizeof *need);
    const int count = g_reach(p->n_root, p->root, need);
    bool *back = arena_array(&mem, (size_t)p->g->n + 1, sizeof *back),
         *used = arena_array(&mem, (size_t)p->g->n + 1, 1);
    int n = 0;
    g_is_back(p->g, back);
    for (int k = 0; k < count; k++) {
        const node *x = need[k];
        used[x->id] = true;
        if (!back[x->id] && !node_is_leaf(x))
            add_name(t, x->op->name, had, &n, MOST);
    }
    for (int i = 0; i < p->g->n_group; i++) {
        const node *x = p->g->group[i].result;
        if (used[x->id] && !back[x->id])
            add_name(t, p->g->group[i].op->name, had, &n, MOST);
    }
    arena_free(&mem);
}

void checkpointing_unused(const plan *p, text *out)
{
    for (int i = 0; p->schema && i < p->schema->n_rule; i++) {
        const rule *r = &p->schema->rule[i];
        if (!r->tells_recompute || p->schema->aside[i])
            continue;
        const saving s = checkpointing_saving(p, i);
        if (p->checkpointing->backward && p->checkpointing->fits[i] && (!r->recompute || s.peak > 0))
            continue;
        text_add(out, "%s: rule \"%s\" ", r->place, r->name);
        if (!p->checkpointing->backward)
            text_add(out, "recomputes nothing: the plan has no backward pass; a step of training has one");
        else if (!p->checkpointing->fits[i])
            text_add(out, "recomputes nothing: none of the forward pass fits; it has "), add_forward(out, p);
        else if (!s.values)
            text_add(out, "recomputes nothing: what it fits is not kept for the backward pass, or has to stay");
        else
            text_add(out, "saves no memory: the most is alive at once where its values are not");
        text_add(out, "\n");
    }
}
