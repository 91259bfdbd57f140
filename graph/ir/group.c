/* group.c - from the result back, as far as the recipe's operands and no further than its first node. */
#include "graph/ir/group.h"

int group_nodes(const graph *g, const group *q, arena *mem, const node ***out)
{
    const int first = q->first < q->result->id ? q->first : q->result->id; /* the result may have been there before */
    const int span = q->result->id - first + 1;
    bool *inside = arena_array(mem, (size_t)span, sizeof *inside);
    int n = 0;
    *out = arena_array(mem, (size_t)span, sizeof **out);
    inside[span - 1] = true;
    for (int at = span; at-- > 0;) {
        const node *x = g->node[first + at];
        bool in = inside[at] && !node_is_leaf(x);
        for (int i = 0; in && i < q->n_in; i++)
            in = q->in[i] != x;
        if (in)
            (*out)[n++] = x;
        for (int i = 0; in && i < x->n_in; i++)
            if (x->in[i]->id >= first)
                inside[x->in[i]->id - first] = true;
    }
    return n;
}
