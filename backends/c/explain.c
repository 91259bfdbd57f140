/* explain.c - what a kernel does, counted in the text that is compiled: operations on vectors, loads, stores, and the
 * cycles that each takes at least at the rates of the machine. */
#include "backends/c/explain.h"
#include "backends/c/dialect.h"
#include "backends/codegen/codegen.h"

/* Cycles of one core, were the work spread evenly. Loads come from the first cache, a vector each. */
static void put_cycles(text *t, const plan *p, const op_counts *c)
{
    const target *on = p->on;
    const double cores = (double)int_min(on->workers, on->places), of_each = on->cost.fma_per_cycle * cores,
                 bytes = on->level[0].bytes_per_cycle * cores,
                 products = (c->multiply_adds + c->dots + c->others) / of_each,
                 loads = (c->loads + c->broadcasts) * on->lanes[TS_F32] * 4 / bytes;
    json_add(t, "cycles:{operations:%.0f,loads:%.0f}", products, loads);
}

bool c_count(const plan *p, const kernel *k, op_counts *out, footprint *bytes)
{
    err e = {0}; /* who builds it is told why */
    return kernel_counted(&c_dialect, p, k, out, bytes, &e);
}

bool c_explain(const plan *p, const kernel *k, op_counts *counts, footprint *bytes, text *out)
{
    if (!c_count(p, k, counts, bytes))
        return false;
    const op_counts c = *counts;
    json_add(out, "instructions:{multiply_adds:%.0f,dots:%.0f,others:%.0f,loads:%.0f,broadcasts:%.0f,stores:%.0f",
             c.multiply_adds, c.dots, c.others, c.loads, c.broadcasts, c.stores);
    json_add(out, "scalars:%.0f,scalar_loads:%.0f,scalar_stores:%.0f,fetches:%.0f", c.scalars, c.scalar_loads,
             c.scalar_stores, c.fetches);
    json_add(out, "lanes:%d", p->on->lanes[k->stage[k->main].node->type.dtype]);
    put_cycles(out, p, &c);
    text_add(out, "}");
    return true;
}
