/* checkpointing.c - what recomputing amounts to: what each rule saves, and which do so in vain. */
#include "schedule/explain/explain.h"
#include "schedule/plan/checkpointing.h"
#include "schedule/schema/schema.h"

#include <string.h>

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
