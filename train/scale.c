/* scale.c - mixed precision in a step. Weights, their gradients' norms and the update stay in f32; products of the
 * model are formed from halves (ts_mixed_precision). Gradients of f16 would vanish below 6e-8: the loss is multiplied
 * by a scale that is halved when a gradient overflows, in a step that then changes nothing else, and doubled after
 * growth_interval steps without. Scale and count are states of the step like any other. */
#include "graph/base/err.h"
#include "train/step.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    ts_dtype dtype;
    bool scaled;
} known[] = {{"f32", TS_F32, false}, {"bf16", TS_BF16, false}, {"f16", TS_F16, true}};
enum { N_KNOWN = sizeof known / sizeof *known };

static int which(const train_options *w)
{
    int i = 0;
    while (i < N_KNOWN && strcmp(known[i].name, w->precision) != 0)
        i++;
    return i;
}

bool precision_known(const train_options *w, ts_error *e)
{
    return which(w) < N_KNOWN || err_set(e, TS_USAGE, "--precision %s: f32, bf16 or f16 expected", w->precision);
}

bool precision_scaled(const train_options *w)
{
    return which(w) < N_KNOWN && known[which(w)].scaled;
}

static bool mixed(ts_graph *g, int n, const ts_tensor *t, const void *user, ts_tensor *out)
{
    return ts_mixed_precision(g, n, t, *(const ts_dtype *)user, out);
}

bool precision_mixed(step *s, net *n, ts_error *e)
{
    const ts_dtype to = known[which(s->asked)].dtype;
    return to == TS_F32 || step_remake(s, n, mixed, &to, e);
}

bool precision_grad(step *s, net *n, const ts_tensor *in, ts_tensor *grad, ts_error *e)
{
    ts_graph *g = n->g;
    ts_tensor seed = NULL; /* [], or as the loss [1] */
    if (precision_scaled(s->asked)) {
        s->scale = seed = ts_input(g, "train.scale", TS_F32, 0, NULL);
        char call[80];
        snprintf(call, sizeof call, "cast to=%s", ts_dtype_name(ts_type(s->loss)));
        seed = ts_call1(g, call, seed);
        if (ts_rank(s->loss) == 1)
            seed = ts_call1(g, "reshape shape=[1]", seed);
    }
    if (!ts_chain_rule(g, 1, &s->loss, seed ? &seed : NULL, s->n_parameter, in, grad))
        return ts_graph_ok(g, e);
    for (int i = 0; s->scale && i < s->n_parameter; i++) {
        char call[80];
        snprintf(call, sizeof call, "cast to=%s", ts_dtype_name(ts_type(grad[i])));
        grad[i] = ts_call2(g, "divide", grad[i], ts_call1(g, call, s->scale));
    }
    return ts_graph_ok(g, e);
}

static ts_tensor number(net *n, double v)
{
    return ts_scalar(n->g, TS_F32, v);
}

void precision_states(step *s, net *n, ts_tensor fine, ts_tensor steps, ts_state *state, int *count)
{
    ts_graph *g = n->g;
    if (!s->scale)
        return;
    const ts_tensor ok = ts_input(g, "train.scale_steps", TS_F32, 0, NULL), one = number(n, 1),
                    next = ts_call2(g, "add", ok, one),
                    full = ts_call2(g, "greater_equal", next, number(n, (double)s->asked->growth_interval)),
                    twice = ts_call2(g, "minimum", ts_call2(g, "multiply", s->scale, number(n, 2)), number(n, 0x1p100)),
                    half = ts_call2(g, "maximum", ts_call2(g, "multiply", s->scale, number(n, 0.5)), one),
                    grown = ts_call3(g, "where", full, twice, s->scale),
                    counted = ts_call3(g, "where", full, number(n, 0), next); /* all [] */
    const ts_tensor scale = ts_call3(g, "where", fine, ts_call3(g, "where", steps, grown, s->scale), half),
                    run = ts_call3(g, "where", fine, ts_call3(g, "where", steps, counted, ok),
                                   number(n, 0)); /* both [] */
    s->state[s->n_state++] = (slot){s->scale, -1, s->asked->loss_scale};
    s->state[s->n_state++] = (slot){ok, -1, 0};
    state[(*count)++] = (ts_state){s->scale, scale};
    state[(*count)++] = (ts_state){ok, run};
}
