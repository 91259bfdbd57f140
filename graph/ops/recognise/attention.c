/* attention.c - softmax(products of q and k, scaled and masked in any way) v, whatever lies between: quotients instead
 * of factors, scales on q and k, masks added or chosen by, reshapes of heads, a test for rows that are masked away. */
#include "graph/ir/attr.h"
#include "graph/ir/recognise.h"

#include <string.h>

static bool is_softmax(const seeker *s, const node *n)
{
    return group_at(s, n, "softmax") || group_at(s, n, "masked_softmax");
}

static bool is_product(const seeker *s, const node *n)
{
    (void)s;
    return (!strcmp(n->op->name, "matmul") || !strcmp(n->op->name, "contract")) && n->n_in == 2;
}

/* Weights among the operands: a layer that happens to have a softmax between its products. */
static bool of_values(const node *n)
{
    return !node_is_known(n->in[0]) && !node_is_known(n->in[1]);
}

static bool find_attention(const seeker *s, const node *y, group *out)
{
    if (!is_product(s, y) || !of_values(y))
        return false;
    for (int side = 0; side < 2; side++) {
        const node *weights = seen_through(s, y->in[side], is_softmax);
        const group *of = weights ? group_at(s, weights, "softmax") : NULL;
        of = weights && !of ? group_at(s, weights, "masked_softmax") : of;
        const node *scores = of ? seen_through(s, of->in[0], is_product) : NULL;
        if (!scores || !of_values(scores))
            continue;
        const node **in = arena_array(&s->g->mem, 3, sizeof *in);
        in[0] = scores->in[0], in[1] = scores->in[1], in[2] = y->in[!side];
        out->n_in = 3, out->in = in, out->first = scores->id;
        return (out->attr = attr_fill(&s->g->mem, out->op, 0, NULL, &s->g->err));
    }
    return false;
}

const recogniser recogniser_attention = {"attention", find_attention};
