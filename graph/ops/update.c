/* update.c - steps of optimizers as ONNX calls them: a rate, a number of updates, then all parameters, all gradients
 * and all states, one after the other; out come the new parameters and states in the same order. */
#include "graph/ir/rule.h"

#include <string.h>

/* ---- helpers ---- */
typedef struct update {
    int n, n_state;           /* parameters; states of each */
    const node *rate, *count; /* scalars; count in the rate's dtype */
    onnx_value *out;          /* parameters, then their states, one kind after the other */
} update;

static bool read_update(const onnx_call *c, int n_state, onnx_value *out, update *u, err *e)
{
    const int each = 2 + n_state;
    if (!onnx_need(c, c->n_in, e))
        return false;
    if (c->n_in < 2 + each || (c->n_in - 2) % each || c->n_out != (c->n_in - 2) / each * (1 + n_state))
        return err_set(e, TS_BAD_INPUT, "%s: %d operands, %d results; takes a rate, a count, and %d for each parameter",
                       c->type, c->n_in, c->n_out, each);
    for (int i = 0; i < 2; i++)
        if (type_count(&c->in[i]->type) != 1)
            return operands_refuse(2, c->in, e, "a rate and a count, one number each,");
    *u = (update){.n = (c->n_in - 2) / each, .n_state = n_state, .out = out};
    u->rate = g_reshape(c->g, c->in[0], 0, NULL);
    u->count = g_cast(c->g, g_reshape(c->g, c->in[1], 0, NULL), c->in[0]->type.dtype);
    return true;
}

/* Operand `kind` of parameter i, in its shape: 0 the parameter, 1 the gradient, 2... its states. */
static const node *of(const onnx_call *c, const update *u, int kind, int i)
{
    return c->in[2 + kind * u->n + i];
}

static const node *same_dtype(graph *g, const node *x, const node *as)
{
    return x && as ? g_cast(g, x, as->type.dtype) : NULL;
}

/* G = gradient + norm_coefficient * parameter, all of one shape */
static const node *regular(const onnx_call *c, const update *u, int i)
{
    const char *sum = arena_format(&c->g->mem, "b+%.17g*a", onnx_real(c, "norm_coefficient", 0));
    return g_formula(c->g, NODES(of(c, u, 0, i), of(c, u, 1, i)), sum);
}

/* Result `kind` of parameter i: 0 the parameter, 1... its states. */
static bool give(const onnx_call *c, const update *u, int kind, int i, const node *x, err *e)
{
    const node *like = of(c, u, kind ? kind + 1 : 0, i); /* as x */
    return onnx_give(c, &u->out[kind * u->n + i].node, same_dtype(c->g, x, like), e);
}

/* ---- ONNX ---- */
/* Per parameter, all of its shape: d = G; sum += d^2; x -= rate d / (sqrt(sum) + epsilon); rate []. */
static bool make_adagrad(const onnx_call *c, onnx_value *out, err *e)
{
    graph *g = c->g;
    const char *decay = arena_format(&g->mem, "a/(1+b*%.17g)", onnx_real(c, "decay_factor", 0)),
               *step = arena_format(&g->mem, "a-d*b/(sqrt(c)+%.17g)", onnx_real(c, "epsilon", 0));
    update u = {0};
    if (!read_update(c, 1, out, &u, e))
        return false;
    const node *rate = g_formula(g, NODES(u.rate, u.count), decay); /* [] */
    for (int i = 0; i < u.n; i++) {
        /* all as x */
        const node *d = regular(c, &u, i), *sum = g_formula(g, NODES(of(c, &u, 2, i), d), "a+b*b");
        const node *x = g_formula(g, NODES(of(c, &u, 0, i), d, sum, rate), step);
        if (!give(c, &u, 0, i, x, e) || !give(c, &u, 1, i, sum, e))
            return false;
    }
    return true;
}

/* Per parameter, all of its shape: v = alpha v + (1 - alpha) d; h = beta h + (1 - beta) d^2; x -= rate v / (sqrt(h) +
 * epsilon), less the part that norm_coefficient_post takes; rate []. */
static bool make_adam(const onnx_call *c, onnx_value *out, err *e)
{
    graph *g = c->g;
    const double alpha = onnx_real(c, "alpha", 0.9), beta = onnx_real(c, "beta", 0.999);
    arena *mem = &g->mem;
    const char *first = arena_format(mem, "%.17g*a+%.17g*b", alpha, 1 - alpha),
               *second = arena_format(mem, "%.17g*a+%.17g*b*b", beta, 1 - beta),
               *adjust = arena_format(mem, "b>0?a*sqrt(1-pow(%.17g,b))/(1-pow(%.17g,b)):a", beta, alpha),
               *step = arena_format(mem, "a-d*b/(sqrt(c)+%.17g)", onnx_real(c, "epsilon", 0)),
               *after = arena_format(mem, "%.17g*a", 1 - onnx_real(c, "norm_coefficient_post", 0));
    update u = {0};
    if (!read_update(c, 2, out, &u, e))
        return false;
    const node *rate = g_formula(g, NODES(u.rate, u.count), adjust); /* [] */
    for (int i = 0; i < u.n; i++) {
        /* all as x */
        const node *d = regular(c, &u, i), *v = g_formula(g, NODES(of(c, &u, 2, i), d), first);
        const node *h = g_formula(g, NODES(of(c, &u, 3, i), d), second);
        const node *x = g_formula(g, NODES(of(c, &u, 0, i), v, h, rate), step);
        x = g_formula(g, 1, &x, after);
        if (!give(c, &u, 0, i, x, e) || !give(c, &u, 1, i, v, e) || !give(c, &u, 2, i, h, e))
            return false;
    }
    return true;
}

/* Per parameter, all of its shape: v = alpha v + beta d, beta being 1 at the first update; x -= rate v, or, of
 * Nesterov, rate (d + alpha v). */
static bool make_momentum(const onnx_call *c, onnx_value *out, err *e)
{
    graph *g = c->g;
    const double alpha = onnx_real(c, "alpha", 0), beta = onnx_real(c, "beta", 0);
    const char *mode = onnx_word(c, "mode", "standard");
    update u = {0};
    const bool nesterov = !strcmp(mode, "nesterov");
    if (!nesterov && strcmp(mode, "standard"))
        return err_set(e, TS_UNSUPPORTED, "%s: mode \"%s\", standard or nesterov expected", c->type, mode);
    const char *moved = arena_format(&g->mem, "%.17g*a+(c>0?%.17g:1)*b", alpha, beta),
               *step = nesterov ? arena_format(&g->mem, "a-d*(b+%.17g*c)", alpha) : "a-d*c";
    if (!read_update(c, 1, out, &u, e))
        return false;
    for (int i = 0; i < u.n; i++) {
        /* all as x */
        const node *d = regular(c, &u, i), *v = g_formula(g, NODES(of(c, &u, 2, i), d, u.count), moved);
        const node *x = g_formula(g, NODES(of(c, &u, 0, i), d, v, u.rate), step);
        if (!give(c, &u, 0, i, x, e) || !give(c, &u, 1, i, v, e))
            return false;
    }
    return true;
}

/* ---- records ---- */
const op ops_update[] = {
    {.call = "update",
     .doc = "Steps of optimizers in a file, as formulas over parameters, gradients and states.",
     .formed = FORMED(
         {"ai.onnx.preview.training.Adagrad 1 - 0.. >* decay_factor epsilon norm_coefficient", make_adagrad},
         {"ai.onnx.preview.training.Adam 1 - 0.. >* alpha beta epsilon norm_coefficient norm_coefficient_post",
          make_adam},
         {"ai.onnx.preview.training.Momentum 1 - 0.. >* alpha beta mode norm_coefficient", make_momentum})},
    {0},
};
