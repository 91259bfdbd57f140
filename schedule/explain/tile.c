/* tile.c - what the innermost loops come to, as the statements that are printed say it: how much of a vector is used,
 * how many sums wait for each other, how often operands are loaded; and who shares them. */
#include "schedule/explain/explain.h"
#include "schedule/nest/nest.h"

/* Of a kernel without sums, what most of its stores take */
static double lanes_of(const op_counts *n, double all)
{
    return n->most.times > 0 ? n->most.lanes : n->stores >= n->scalar_stores ? all : 1;
}

void tile_explain(text *t, const plan *p, const kernel *k, const op_counts *n)
{
    const costs *c = &p->on->cost;
    const stage *s = &k->stage[k->main];
    const int64_t lanes = nest_lanes(p, s);
    const bool sums = n && n->most.times > 0;
    json_add(t, "tile:{cores:%lld", (long long)int_min(nest_parts(k), p->threads));
    if (n)
        json_add(t, "lanes:%.0f", lanes_of(n, (double)lanes));
    json_add(t, "lanes_of:%lld", (long long)lanes);
    if (sums)
        json_add(t, "sums:%.0f", n->most.sums);
    if (sums || stage_fold(s))
        json_add(t, "sums_of:%.0f", c->fma_latency * c->fma_per_cycle);
    if (sums) {
        const double adds = n->multiply_adds + n->dots > 0 ? n->multiply_adds + n->dots : n->most.times;
        json_add(t, "multiply_adds:%.0f,loads:%.4g", n->most.written,
                 (n->loads + n->broadcasts + n->scalar_loads) / adds);
    }
    text_add(t, "}");
}
