#include "bench/train/optimizer.h"

#include "bench/failure.h"

#include <stdio.h>
#include <string.h>

static ts_tensor times(ts_graph *g, ts_tensor t, double factor)
{
    return ts_call2(g, "multiply", t, ts_scalar(g, ts_type(t), factor));
}

static ts_tensor new_state(const optimizer *o, param *p, const char *prefix)
{
    char *name = NULL;
    if (asprintf(&name, "%s/%s", prefix, p->name) < 0)
        return NULL;
    const ts_tensor t = ts_input(o->g, name, ts_type(p->input), ts_rank(p->input), ts_shape(p->input));
    p->state_name[p->n_state] = name;
    return p->state[p->n_state++] = t;
}

/* a + share (b - a), written as share b + (1 - share) a */
static ts_tensor mixed(ts_graph *g, ts_tensor a, ts_tensor b, double share)
{
    return ts_call2(g, "add", times(g, a, 1 - share), times(g, b, share));
}

/* Loshchilov and Hutter 2019: the decay beside the adaptive step, not within it. */
static void adamw(const optimizer *o, param *p, ts_tensor grad, ts_tensor *next)
{
    ts_graph *g = o->g;
    const train_wish *w = o->wish;
    const ts_tensor m = new_state(o, p, "adam_m"), v = new_state(o, p, "adam_v");
    next[1] = mixed(g, m, grad, 1 - w->beta1);
    next[2] = mixed(g, v, ts_call1(g, "square", grad), 1 - w->beta2);
    const ts_tensor root = ts_call2(g, "multiply", ts_call1(g, "sqrt", next[2]), o->second),
                    below = ts_call2(g, "add", root, ts_scalar(g, ts_type(root), w->eps)),
                    way = ts_call2(g, "divide", ts_call2(g, "multiply", next[1], o->first), below);
    ts_tensor all = way;
    if (p->decays && w->weight_decay > 0)
        all = ts_call2(g, "add", way, times(g, p->input, w->weight_decay));
    next[0] = ts_call2(g, "subtract", p->input, ts_call2(g, "multiply", all, o->lr));
}

static void sgd(const optimizer *o, param *p, ts_tensor grad, ts_tensor *next)
{
    ts_graph *g = o->g;
    const train_wish *w = o->wish;
    ts_tensor way = p->decays && w->weight_decay > 0 ? ts_call2(g, "add", grad, times(g, p->input, w->weight_decay))
                                                     : grad;
    if (w->momentum > 0) {
        const ts_tensor m = new_state(o, p, "momentum");
        way = next[1] = ts_call2(g, "add", times(g, m, w->momentum), way);
    }
    next[0] = ts_call2(g, "subtract", p->input, ts_call2(g, "multiply", way, o->lr));
}

bool optimizer_apply(const optimizer *o, param *p, ts_tensor grad, ts_tensor *next, ts_error *e)
{
    static const struct {
        const char *name;
        void (*make)(const optimizer *o, param *p, ts_tensor grad, ts_tensor *next);
    } all[] = {{"adamw", adamw}, {"sgd", sgd}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, o->wish->optimizer) == 0)
            return all[i].make(o, p, grad, next), ts_graph_ok(o->g, e);
    bench_fail(e, TS_USAGE, "there is no optimizer \"%s\"", o->wish->optimizer);
    return bench_hint(e, "those there are: adamw, sgd");
}
