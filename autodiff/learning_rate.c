/* learning_rate.c - learning rates as functions of the step: tensors like any other, so that a training step needs
 * nothing from outside to know its rate. */
#include "graph/ir/rule.h"

/* Of the peak, at step a = 1, 2, ...: up over W steps, then down to `low` after T. */
static const struct {
    const char *name, *after;
} kinds[] = {
    {"constant", "1"},
    {"linear", "max(L,1-(1-L)*min(max((a-1-W)/(T-W),0),1))"},
    {"cosine", "L+(1-L)*0.5*(1+cos(3.14159265358979312*min(max((a-1-W)/(T-W),0),1)))"},
};

static void spell(text *t, const char *formula, const ts_schedule_kind *k)
{
    for (const char *s = formula; *s; s++)
        if (*s == 'W')
            text_add(t, "%.17g", k->warmup);
        else if (*s == 'T')
            text_add(t, "%.17g", k->total);
        else if (*s == 'L')
            text_add(t, "%.17g", k->low);
        else
            text_bytes(t, s, 1);
}

ts_tensor ts_schedule(ts_graph *g, const ts_schedule_kind *k, ts_tensor step)
{
    if (!g_given(g, "a schedule", k) || !g_given(g, "the name of a schedule", k->name))
        return NULL;
    ENDED_BY(text_free) text t = {0};
    const int i = ROW_NAMED(kinds, k->name);
    if (i < 0)
        return g_fail(g, TS_BAD_INPUT, "no schedule \"%s\"; there are: constant, linear, cosine", k->name);
    const bool bad = k->warmup < 0 || (i > 0 && k->total <= k->warmup) || k->low < 0 || k->low > 1;
    if (bad)
        return g_fail(g, TS_BAD_INPUT,
                      "%s schedule: warm-up of %g steps of %g, then down to %g of the rate; expected 0 or more steps, "
                      "fewer than all, and a share in 0...1",
                      k->name, k->warmup, k->total, k->low);
    text_add(&t, "%.17g*select(a<=%.17g,a/%.17g,", k->peak, k->warmup, k->warmup > 0 ? k->warmup : 1);
    spell(&t, kinds[i].after, k);
    text_add(&t, ")");
    return g_formula(g, 1, &step, t.s);
}
