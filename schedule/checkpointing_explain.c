/* checkpointing_explain.c - what recomputing amounts to, asked of a plan: where copies stand, what each rule saves. */
#include "schedule/checkpointing.h"

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
static int kernel_of(const plan *p, const node *n) /* that computes n, or the first one whose work comes after it */
{
    int after = -1;
    for (int k = 0; k < p->n_kernel; k++)
        for (int i = 0; i < p->kernel[k].n_stage; i++) {
            const node *s = p->kernel[k].stage[i].node;
            if (s == n)
                return k;
            if (after < 0 && checkpointing_due(p, s) >= checkpointing_due(p, n))
                after = k;
        }
    return after < 0 ? p->n_kernel - 1 : after;
}

static void add(double *alive, int first, int last, double bytes)
{
    for (int k = first; k <= last; k++)
        alive[k] += bytes;
}

static double most(const plan *p, const double *alive)
{
    double m = 0;
    for (int k = 0; k < p->n_kernel; k++)
        m = alive[k] > m ? alive[k] : m;
    return m;
}

static bool in_arena(const plan *p, const node *n)
{
    return p->buffer[n->id].where == IN_ARENA;
}

saving checkpointing_saving(const plan *p, int which)
{
    saving s = {0};
    arena m = {0};
    double *alive = arena_array(&m, (size_t)p->n_kernel + 1, sizeof *alive);
    for (int id = 0; id < p->g->n; id++) {
        const buffer *h = &p->buffer[id];
        if (h->where == IN_ARENA)
            add(alive, h->over ? h->first + 1 : h->first, h->last, (double)h->bytes);
    }
    const double now = most(p, alive);
    for (int id = 0; p->checkpointing && id < p->checkpointing->n; id++)
        if (p->checkpointing->node[id].rule == which) {
            const buffer *h = &p->buffer[id];
            s.flops += node_flops(p->g->node[id]);
            if (h->where == IN_ARENA)
                add(alive, h->over ? h->first + 1 : h->first, h->last, -(double)h->bytes);
        }
    for (int i = 0; p->checkpointing && i < p->checkpointing->n_value; i++) {
        const forgone *f = &p->checkpointing->value[i];
        const double bytes = (double)type_bytes(&f->value->type);
        if (f->rule != which)
            continue;
        s.values++, s.bytes += bytes;
        const int from = in_arena(p, f->value) ? p->buffer[f->value->id].last + 1 : kernel_of(p, f->value);
        add(alive, from, kernel_of(p, f->reader), bytes);
    }
    s.peak = most(p, alive) - now;
    arena_free(&m);
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
    arena m = {0};
    const node **need = arena_array(&m, (size_t)p->g->n + 1, sizeof *need);
    const int count = g_reach(p->n_root, p->root, need);
    bool *back = arena_array(&m, (size_t)p->g->n + 1, sizeof *back), *used = arena_array(&m, (size_t)p->g->n + 1, 1);
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
    arena_free(&m);
}

void checkpointing_unused(const plan *p, text *out)
{
    for (int i = 0; p->schema && i < p->schema->n_rule; i++) {
        const rule *r = &p->schema->rule[i];
        if (!r->tells_recompute)
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
