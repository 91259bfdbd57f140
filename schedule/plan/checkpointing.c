/* checkpointing.c - what is computed again for the backward pass, asked of a plan. */
#include "schedule/plan/checkpointing.h"

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
