/* batch_norm.c - normalisation by statistics of each channel: those that stand in the model, or, in training, those of
 * the batch, which the model's then follow. A model says which of both it was written with; a pass changes that. */
#include "graph/ir/rule.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* ---- helpers ---- */
/* Mean and variance (over the count) of each channel of x [batch, channel, ...], in `to`: [channel] each. */
static bool moments(graph *g, const node *x, dtype to, const node *out[2])
{
    int64_t axes[MAX_RANK];
    int n = 0;
    for (int i = 0; x && i < x->type.rank; i++)
        if (i != 1)
            axes[n++] = i;
    const attr list[] = {attr_ints("axes", n, axes)};
    const node *mean = g_apply(g, "mean", x, 1, list),
               *away = mean ? g_call2(g, "subtract", x, g_by_channel(g, x, mean)) : NULL,
               *var = g_apply(g, "mean", g_call1(g, "square", away), 1, list); /* mean, var [channel]; away as x */
    out[0] = mean ? g_cast(g, mean, to) : NULL, out[1] = var ? g_cast(g, var, to) : NULL;
    return var != NULL;
}

/* What the model's statistics [channel] become after a batch. */
static const node *followed(graph *g, const node *old, const node *now, double keep)
{
    return g_call2(g, "add", g_scaled(g, old, keep), g_scaled(g, now, 1 - keep));
}

/* ---- ONNX ---- */
/* The outputs behind the first are the model's statistics after this batch, and up to version 13 those of the batch. */
static bool further_outputs(const onnx_call *c, const node *const in[5], const node **out, err *e)
{
    const node *now[2]; /* [channel] */
    if (c->n_out < 2)
        return true;
    if (!moments(c->g, in[0], in[3]->type.dtype, now))
        return onnx_give(c, out + 1, NULL, e);
    for (int i = 0; i < 2; i++) {
        const node *next = followed(c->g, in[3 + i], now[i], onnx_own_real(c, "momentum")); /* [channel] */
        if ((c->n_out > 1 + i && !onnx_give(c, out + 1 + i, next, e)) ||
            (c->n_out > 3 + i && !onnx_give(c, out + 3 + i, now[i], e)))
            return false;
    }
    return true;
}

static bool adapt_batch_norm(const onnx_call *c, const node **out, err *e)
{
    graph *g = c->g;
    const node *in[5]; /* [batch, channel, ...], [channel] */
    const type *t = &c->in[0]->type;
    const bool training = onnx_int(c, "training_mode", 0) || c->n_out > 1;
    /* Where every element of space has its own numbers, each counts as a channel; x [batch] has one channel. */
    const bool each = !onnx_int(c, "spatial", 1) || t->rank == 1;
    const int64_t flat[] = {t->rank ? t->dim[0] : 1, t->rank == 1 ? 1 : -1};
    for (int i = 0; i < 5; i++)
        in[i] = each ? g_reshape(g, c->in[i], i ? 1 : 2, i ? (int64_t[]){-1} : flat) : c->in[i];
    for (int i = 0; i < 5 && !training; i++)
        in[i] = g_widened(g, in[i]);
    const node *y = onnx_made(c, 5, in, ATTRS(attr_int("training", training))); /* [batch, channel, ...] */
    return onnx_give(c, out, y ? g_cast(g, each ? g_reshape(g, y, t->rank, t->dim) : y, t->dtype) : NULL, e) &&
           further_outputs(c, in, out, e);
}

/* ---- recipes ---- */
/* Operands: x [batch, channel, ...]; scale, bias, mean, var [channel]. factor = scale / sqrt(var + epsilon). The
 * model's own statistics: x * factor + (bias - mean * factor), where a plan computes once what depends on weights only;
 * those of the batch: (x - mean) * factor + bias. */
static const node *batch_norm_lower(graph *g, const node *n)
{
    const node *x = n->in[0], *scale = n->in[1], *bias = n->in[2], *of[2] = {n->in[3], n->in[4]};
    const bool training = node_int(n, "training") != 0;
    if (training && !moments(g, x, n->in[3]->type.dtype, of))
        return NULL;
    const node *spread = g_call1(g, "sqrt", g_call2(g, "add", of[1], g_scalar_like(g, of[1], node_real(n, "epsilon"))));
    const node *factor = g_call2(g, "divide", scale, spread), *shift = bias; /* [channel], as spread */
    if (training)
        x = of[0] ? g_call2(g, "subtract", x, g_by_channel(g, x, of[0])) : NULL;
    else
        shift = g_call2(g, "subtract", bias, g_call2(g, "multiply", of[0], factor));
    factor = g_by_channel(g, n->in[0], factor), shift = g_by_channel(g, n->in[0], shift);
    return g_call2(g, "add", g_call2(g, "multiply", x, factor), shift);
}

/* ---- passes ---- */
typedef struct norms {
    graph *g;
    const ts_statistics *asked;
    const group **of;  /* by id of an old result */
    const node **now;  /* by old id */
    ts_update *update; /* two for each pair of statistics */
    int n, cap;
} norms;

static bool is_listed(const char *globs, const char *name)
{
    char one[512];
    while (line_next(&globs, one, sizeof one))
        if (!fnmatch(one, name, 0))
            return true;
    return false;
}

static bool is_weight(const node *n)
{
    return n->leaf && n->leaf->kind == LEAF_WEIGHT && *n->label;
}

/* What follows the statistic `old`: norms that share one follow each other. */
static ts_update *update_of(norms *s, const node *old)
{
    for (int i = 0; i < s->n; i++)
        if (s->update[i].start == old)
            return &s->update[i];
    s->update = arena_grown(&s->g->mem, s->update, s->n, &s->cap, sizeof *s->update);
    const node *input = g_input(s->g, old->label, &old->type, NULL); /* [channel] */
    s->update[s->n] = (ts_update){input, input, old};
    return &s->update[s->n++];
}

static const node *other_mode(void *user, const node *old, const node *now)
{
    norms *s = user;
    const group *r = s->of[old->id];
    const node *in[5], *is[2]; /* [batch, channel, ...], [channel] */
    s->now[old->id] = now;
    if (!r || !is_weight(r->in[3]) || !is_weight(r->in[4]))
        return now;
    const bool fixed = is_listed(s->asked->fixed, r->in[3]->label);
    if (fixed != is_listed(s->asked->fixed, r->in[4]->label))
        return g_fail(s->g, TS_BAD_INPUT, "of \"%s\" and \"%s\", one is to stay as it is and the other is not",
                      r->in[3]->label, r->in[4]->label);
    const bool training = s->asked->training && !fixed;
    for (int i = 0; i < 5; i++)
        in[i] = s->now[r->in[i]->id] ? s->now[r->in[i]->id] : r->in[i];
    const double keep = r->attr[1].f;
    const attr list[] = {r->attr[0], r->attr[1], attr_int("training", training)};
    if (training && moments(s->g, in[0], in[3]->type.dtype, is))
        for (int i = 0; i < 2; i++) {
            ts_update *u = update_of(s, r->in[3 + i]);
            u->to = followed(s->g, u->to, is[i], keep);
        }
    const node *y = g_make(s->g, r->op, 5, in, list, COUNT(list)); /* [batch, channel, ...] */
    if (y)
        g_label(s->g, y, old->label);
    return s->now[old->id] = y;
}

int ts_batch_statistics(ts_graph *g, int n, const ts_tensor *t, const ts_statistics *asked, ts_tensor *out,
                        ts_update **update)
{
    if (!g_given(g, "what is asked of batch statistics", asked))
        return -1;
    const op *norm = op_find("batch_norm");
    const size_t count = (size_t)g->n + 1;
    norms s = {.g = g, .asked = asked, .of = heap_array(count, sizeof *s.of), .now = heap_array(count, sizeof *s.now)};
    group *own = heap_array((size_t)g->n_group + 1, sizeof *own); /* the graph's list moves while it grows */
    if (g->n_group)
        memcpy(own, g->group, (size_t)g->n_group * sizeof *own);
    for (int i = 0, end = g->n_group; i < end; i++)
        if (own[i].op == norm)
            s.of[own[i].result->id] = &own[i];
    const bool ok = g_rewrite(g, n, t, other_mode, &s, out);
    free(own), free(s.of), free(s.now);
    *update = s.update;
    return ok ? s.n : -1;
}

/* ---- records ---- */
const op ops_batch_norm[] = {
    RECIPE("batch_norm a b c d e epsilon:f=1e-05 momentum:f=0.9 training:i=0 -> n c h w", batch_norm_lower,
           "(lambda v, m: (a - v(m[0])) / np.sqrt(v(m[1]) + epsilon) * v(b) + v(c))(lambda v: v.reshape(-1, *[1] * "
           "(a.ndim - 2)), [f(np.moveaxis(a, 1, 0).reshape(a.shape[1], -1), 1) for f in (np.mean, np.var)] if "
           "training else x[3:])",
           NULL,
           "f32[2,3,4,5] f32[3] f32[3] f32[3] f32[3]+\nf64[4,3] f64[3] f64[3] f64[3] f64[3]+ epsilon=0.001\n"
           "f32[0,2,3] f32[2] f32[2] f32[2] f32[2]+\nf64[4,3,5] f64[3] f64[3] f64[3] f64[3]+ training=1",
           "Scale, bias, mean and variance of each channel (axis 1), as they stand after training; with training=1 "
           "mean and variance of a are in place of those.",
           .adapted = ADAPTED(
               {"BatchNormalization 1 fFFf 5 >5 epsilon is_test momentum spatial training_mode", adapt_batch_norm}),
           .trained = "training_mode=0 out=1"),
    {0},
};
