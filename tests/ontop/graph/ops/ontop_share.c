/* ontop_share.c - a recipe that the project does not have, and what finds it where it was written out. */
#include "graph/ir/attr.h"
#include "graph/passes/recognise.h"
#include "graph/ir/rule.h"

#include <string.h>

static const node *share_lower(graph *g, const node *n)
{
    return g_call2(g, "divide", n->in[0], g_call1(g, "sum axes=[-1] keepdims=1", n->in[0]));
}

static bool find_share(const seeker *s, const node *y, group *out)
{
    if (strcmp(y->op->name, "divide") || strcmp(y->in[1]->op->name, "sum") || y->in[1]->in[0] != y->in[0])
        return false;
    out->n_in = 1, out->in = y->in, out->first = y->in[1]->id;
    return (out->attr = attr_fill(&s->g->mem, out->op, 0, NULL, &s->g->err));
}

const op ops_ontop_share[] = {
    RECIPE("ontop_share a", share_lower, "a / a.sum(-1, keepdims=True)", NULL, "f32[2,3]\n",
           "Each number as a share of its row."),
    {0},
};

const recogniser recogniser_ontop_share = {"ontop_share", find_share};
