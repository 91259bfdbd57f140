/* norms.c - softmax, layer norm and root-mean-square norm spelled out, as exporters wrote them before there were
 * operators. */
#include "graph/eval/eval.h"
#include "graph/ir/attr.h"
#include "graph/ir/recognise.h"
#include "graph/ir/rule.h"

#include <string.h>

static bool is(const node *n, const char *name)
{
    return !strcmp(n->op->name, name);
}

static bool number(graph *g, const node *n, double *out) /* a constant of one element */
{
    const ts_array *v = type_count(&n->type) == 1 ? g_constant(g, n, 1) : NULL;
    if (v)
        *out = ts_array_at(v, 0);
    return v;
}

static bool is_number(graph *g, const node *n, double v)
{
    double at;
    return number(g, n, &at) && at == v;
}

/* A fold that keeps its dimensions, over the axes from the one given to the last, or -1. */
static int folds_from(const node *n)
{
    const attr *axes = node_attr(n, "axes");
    const int rank = n->type.rank;
    uint32_t folded = 0;
    if (!node_int(n, "keepdims") || axes->kind != 'I' || axes->n < 1 || axes->n > rank)
        return -1;
    for (int i = 0; i < axes->n; i++)
        folded |= 1u << (axes->ints[i] < 0 ? axes->ints[i] + rank : axes->ints[i]);
    return folded == ((1u << rank) - 1) - ((1u << (rank - axes->n)) - 1) ? rank - axes->n : -1;
}

static bool give(graph *g, group *out, int n_in, const node *const *in, int n_attr, const attr *list)
{
    out->n_in = n_in, out->in = arena_joined(&g->mem, in, n_in, NULL, 0, sizeof *in);
    return (out->attr = attr_fill(&g->mem, out->op, n_attr, list, &g->err));
}

/* ---- softmax: exp(z) / sum(exp(z)), where z is x, or x less its maximum ---- */
static bool find_softmax(const seeker *s, const node *y, group *out)
{
    if (!is(y, "divide") || !is(y->in[0], "exp") || !is(y->in[1], "sum") || y->in[1]->in[0] != y->in[0])
        return false;
    const node *z = y->in[0]->in[0], *x = z;
    const attr *axes = node_attr(y->in[1], "axes");
    if (is(z, "subtract") && is(z->in[1], "max") && z->in[1]->in[0] == z->in[0])
        x = z->in[0];
    if (axes->kind != 'I' || axes->n != 1 || !node_int(y->in[1], "keepdims"))
        return false;
    out->first = x == z ? y->in[0]->id : z->in[1]->id;
    return give(s->g, out, 1, &x, ATTRS(attr_int("axis", axes->ints[0])));
}

/* ---- norms ---- */
typedef struct norm {
    const node *whole, *x, *scale, *bias; /* whole: x over its size, with neither scale nor bias */
    int axis;
    double epsilon;
} norm;

static bool is_square_of(graph *g, const node *n, const node *x)
{
    return (is(n, "square") && n->in[0] == x) || (is(n, "multiply") && n->in[0] == x && n->in[1] == x) ||
           (is(n, "power") && n->in[0] == x && is_number(g, n->in[1], 2));
}

/* mean(x * x) + epsilon */
static bool is_size_of(graph *g, const node *n, const node *x, norm *out)
{
    for (int i = 0; is(n, "add") && i < 2; i++) {
        const node *m = n->in[i];
        if (is(m, "mean") && is_square_of(g, m->in[0], x) && number(g, n->in[!i], &out->epsilon))
            return (out->axis = folds_from(m)) >= 0;
    }
    return false;
}

static const node *under_root(graph *g, const node *n) /* what n is one over the root of, or NULL */
{
    if (is(n, "rsqrt"))
        return n->in[0];
    if (is(n, "reciprocal") && is(n->in[0], "sqrt"))
        return n->in[0]->in[0];
    if (is(n, "divide") && is(n->in[1], "sqrt") && is_number(g, n->in[0], 1))
        return n->in[1]->in[0];
    return is(n, "power") && is_number(g, n->in[1], -0.5) ? n->in[0] : NULL;
}

static bool find_core(graph *g, norm *q)
{
    const node *y = q->whole;
    if (is(y, "divide") && is(y->in[1], "sqrt") && is_size_of(g, y->in[1]->in[0], y->in[0], q))
        return (q->x = y->in[0]);
    for (int i = 0; is(y, "multiply") && i < 2; i++) {
        const node *size = under_root(g, y->in[i]);
        if (size && is_size_of(g, size, y->in[!i], q))
            return (q->x = y->in[!i]);
    }
    return false;
}

/* The operand beside a weight of one number for each element that is folded; NULL: none */
static const node *beside(const node *n, const char *name, const node **weight)
{
    for (int i = 0; is(n, name) && i < 2; i++) {
        const node *other = n->in[!i];
        if (node_is_known(n->in[i]) && !node_is_known(other) && type_count(&other->type) == type_count(&n->type))
            return *weight = n->in[i], other;
    }
    return NULL;
}

static bool find_norm(graph *g, const node *y, norm *q)
{
    *q = (norm){.whole = y};
    const node *inner = beside(y, "add", &q->bias);
    q->whole = inner ? inner : y;
    inner = beside(q->whole, "multiply", &q->scale);
    q->whole = inner ? inner : q->whole;
    return (!q->bias || q->scale) && find_core(g, q);
}

static bool give_norm(graph *g, group *out, const norm *q, const node *x)
{
    const node *in[] = {x, q->scale, q->bias};
    const attr list[] = {attr_int("axis", q->axis), attr_real("epsilon", q->epsilon)};
    return give(g, out, q->bias ? 3 : q->scale ? 2 : 1, in, COUNT(list), list);
}

static bool find_layer_norm(const seeker *s, const node *y, group *out)
{
    norm q;
    if (!find_norm(s->g, y, &q) || !is(q.x, "subtract") || !is(q.x->in[1], "mean") || q.x->in[1]->in[0] != q.x->in[0] ||
        folds_from(q.x->in[1]) != q.axis)
        return false;
    out->first = q.x->in[1]->id;
    return give_norm(s->g, out, &q, q.x->in[0]);
}

static bool find_rms_norm(const seeker *s, const node *y, group *out)
{
    norm q;
    if (!find_norm(s->g, y, &q) || is(q.x, "subtract"))
        return false;
    out->first = q.x->id + 1;
    return give_norm(s->g, out, &q, q.x);
}

const recogniser recogniser_softmax = {"softmax", find_softmax};
const recogniser recogniser_layer_norm = {"layer_norm", find_layer_norm};
const recogniser recogniser_rms_norm = {"rms_norm", find_rms_norm};
