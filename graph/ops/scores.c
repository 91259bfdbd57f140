/* scores.c - what follows scores of outputs or classes: their transformation, and labels. */
#include "graph/ops/scores.h"

#include <string.h>

/* keep: f64 stays, as trees compare it; halves and integers become f32 in any case. */
const node *scores_input(const onnx_call *c, bool keep, err *e)
{
    const node *x = c->in[0];
    const type *t = &x->type;
    if (t->rank < 1 || t->rank > 2)
        return operands_refuse(1, c->in, e, "[row, feature] or one row"), NULL;
    const int64_t row[] = {1, t->dim[0]};
    if (t->rank == 1)
        x = g_reshape(c->g, x, 2, row);
    return keep && t->dtype == TS_F64 ? x : g_cast(c->g, x, TS_F32);
}

/* exp(a - m) / sum, but zeros stay zeros; m: the largest */
static const node *softmax_zero(graph *g, const node *s)
{
    const node *top = g_call1(g, "max axes=[1] keepdims=1", s);
    const node *part = g_formula(g, NODES(s, top), "select(abs(a)>0.0000001,exp(a-b),0)");
    const node *sum = g_call1(g, "sum axes=[1] keepdims=1", part);
    return g_formula(g, NODES(part, sum, top, s), "select(abs(d)>0.0000001,a,d*exp(-c))/b");
}

/* The inverse of the normal distribution as runtimes approximate it (Winitzki's inverse of erf) */
static const node *probit(graph *g, const node *s)
{
    const node *log = g_formula(g, 1, &s, "log(4*a*(1-a))"); /* (1 - x) (1 + x) for x = 2 a - 1 */
    const node *far = g_formula(g, 1, &log,
                                "1.41421356*sqrt(sqrt((4.330751+0.5*a)*(4.330751+0.5*a)-6.80272109*a)-4.330751-0.5*a)");
    return g_formula(g, NODES(s, far), "select(a<0.5,-b,b)");
}

static const struct {
    const char *name, *call; /* a call of one operation, or */
    const node *(*make)(graph *g, const node *s);
} transforms[] = {{"NONE", NULL, NULL},
                  {"LOGISTIC", "sigmoid", NULL},
                  {"SOFTMAX", "softmax axis=1", NULL},
                  {"SOFTMAX_ZERO", NULL, softmax_zero},
                  {"PROBIT", NULL, probit}};

/* As a word, or its number in TreeEnsemble; -1 with the reason */
static int transform_of(const onnx_call *c, err *e)
{
    const attr *a = onnx_attr(c, "post_transform");
    if (!a)
        return 0;
    for (int i = 0; i < COUNT(transforms); i++)
        if (a->kind == 'i' ? a->i == i : a->kind == 's' && !strcmp(a->s, transforms[i].name))
            return i;
    err_set(e, TS_BAD_INPUT, "post_transform is none of NONE, LOGISTIC, SOFTMAX, SOFTMAX_ZERO and PROBIT");
    return -1;
}

/* Runtimes take one score as it is but for PROBIT, whatever else is asked for. */
const node *scores_transformed(const onnx_call *c, const node *s, err *e)
{
    const int i = transform_of(c, e);
    if (i < 0 || !s)
        return NULL;
    if (!i || (s->type.dim[1] == 1 && transforms[i].make != probit))
        return s;
    return transforms[i].call ? g_call1(c->g, transforms[i].call, s) : transforms[i].make(c->g, s);
}

bool scores_are(const onnx_call *c, const char *transform, err *e)
{
    const int i = transform_of(c, e);
    return i >= 0 && !strcmp(transforms[i].name, transform);
}

const node *scores_pair(graph *g, const node *s, const char *first)
{
    return s ? g_call2(g, "concat axis=1", g_formula(g, 1, &s, first), s) : NULL;
}

const node *scores_odds(graph *g, const node *s)
{
    return g_call1(g, "sigmoid", scores_pair(g, s, "-a"));
}

const node *scores_table(graph *g, dtype d, int64_t rows, int64_t columns, const double *v)
{
    const type t = {.dtype = d, .rank = columns ? 2 : 1, .dim = {rows, columns}};
    const int64_t n = type_count(&t);
    void *data = arena_array(&g->mem, (size_t)n, (size_t)ts_dtype_bytes(d));
    for (int64_t i = 0; i < n; i++)
        store_real(d, data, i, v[i]);
    return g_weight(g, "", &t, data);
}

const node *scores_above(graph *g, const node *s, double level)
{
    const node *y = s ? g_call2(g, "greater", s, g_scalar_like(g, s, level)) : NULL;
    return y ? g_reshape(g, g_cast(g, y, TS_I64), 1, s->type.dim) : NULL;
}

bool class_labels_read(const onnx_call *c, const char *numbers, class_labels *out, err *e)
{
    const attr *ints = onnx_attr(c, numbers), *words = onnx_attr(c, "classlabels_strings");
    const bool texts = words && words->n > 0;
    *out = (class_labels){0};
    if ((ints && ints->kind != 'I') || (texts && words->kind != 'S'))
        return err_set(e, TS_BAD_INPUT, "attribute %s is no list of labels", ints ? numbers : words->name);
    out->n = texts ? words->n : ints ? ints->n : 0;
    out->number = texts ? NULL : ints ? ints->ints : NULL;
    return (out->n > 0 && out->n <= 1 << 20) ||
           err_set(e, TS_BAD_INPUT, "%d labels in %s or classlabels_strings, 1 to 2^20 expected", out->n, numbers);
}

bool class_labels_give(const onnx_call *c, const node **out, const class_labels *l, const node *which, const node *s)
{
    bool own = !l->number;
    for (int i = 0; !own && i < l->n && l->number[i] == i; i++)
        own = i == l->n - 1;
    if (!which || !s)
        return false;
    out[0] = own ? which : g_call2(c->g, "gather axis=0", g_ints(c->g, l->n, l->number), which);
    if (c->n_out > 1)
        out[1] = s;
    return out[0] != NULL;
}
