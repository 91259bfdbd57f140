/* emit.c - expressions as nodes: a named operation where one says the same, else a formula or an element. */
#include "autodiff/autodiff.h"
#include "graph/ir/rule.h"

#include <string.h>

enum { LONG = 160 }; /* what a formula may hold */

static int parts(const expr *x)
{
    int n = 1;
    for (int i = 0; i < x->n; i++)
        n += parts(x->arg[i]);
    return n;
}

/* ---- element ---- */
const node *emit_sum(graph *g, const sum *s)
{
    const node *y = g_element_of(g, &(spelling){s->rank, s->n_axis - s->rank, s->extent, s->fold, NULL}, s->value);
    if (!y && g->err.code == TS_BAD_INPUT) /* right by conditions that an element cannot be told */
        g->err.code = TS_UNSUPPORTED;
    return y;
}

/* ---- pointwise ---- */
bool is_pointwise(const type *shape, const expr *x)
{
    if (x->kind == X_AXIS || x->kind == X_FOLD)
        return false;
    for (int i = 0; x->kind != X_LOAD && i < x->n; i++)
        if (!is_pointwise(shape, x->arg[i]))
            return false;
    const int skip = shape->rank - x->n;
    if (x->kind == X_LOAD && skip < 0)
        return false;
    for (int i = 0; x->kind == X_LOAD && i < x->n; i++) {
        const expr *s = x->arg[i];
        const int64_t dim = x->from->type.dim[i], extent = shape->dim[i + skip];
        const bool along = s->kind == X_AXIS && s->axis == i + skip && dim == extent;
        if (!along && !(dim == 1 && s->kind == X_LIT))
            return false;
    }
    return true;
}

/* The operation whose text says what x says of its arguments. */
static const op *named(arena *m, const expr *x)
{
    names known = {.n = x->n, .name = {"a", "b", "c", "d"}};
    for (int i = 0; i < x->n; i++) {
        if (x->arg[i]->kind != X_LOAD && x->arg[i]->kind != X_LIT)
            return NULL;
        known.value[i] = x->arg[i];
    }
    for (const op *const *const *table = op_tables; *table; table++)
        for (const op *const *o = *table; *o; o++) {
            if (!(*o)->text || (*o)->arity != x->n || ((*o)->attr && (*o)->attr->name))
                continue;
            const expr *same = x_parse(m, (*o)->text, &known, NULL);
            if (same && x_same(same, x))
                return *o;
        }
    return NULL;
}

/* What is too long for one text becomes a node of its own, and a load of it. */
static const expr *shortened(graph *g, arena *m, const type *shape, const expr *x)
{
    const expr *arg[MAX_RANK];
    if (x->kind != X_CALL || parts(x) <= LONG)
        return x;
    for (int i = 0; i < x->n; i++) {
        arg[i] = x->arg[i];
        if (parts(arg[i]) <= LONG / 4 || dtype_class(arg[i]->dtype) != D_REAL)
            continue;
        const node *part = emit_pointwise(g, shape, arg[i]);
        const expr *sub[MAX_RANK];
        if (!part)
            return NULL;
        const int skip = shape->rank - part->type.rank;
        for (int k = 0; k < part->type.rank; k++)
            sub[k] = part->type.dim[k] == shape->dim[k + skip] ? x_axis(m, k + skip) : x_whole(m, 0);
        arg[i] = x_load(m, part, sub);
    }
    return x_apply(m, x->fn, x->n, arg);
}

static const node *call_of(graph *g, const op *o, const expr *x)
{
    const node *in[MAX_ARG];
    for (int i = 0; i < x->n; i++)
        in[i] = x->arg[i]->kind == X_LOAD ? x->arg[i]->from : g_scalar(g, x->arg[i]->dtype, x->arg[i]->lit);
    return g_make(g, o, x->n, in, NULL, 0);
}

const node *emit_pointwise(graph *g, const type *shape, const expr *value)
{
    arena m = {0};
    const node *y = NULL;
    const expr *x = shortened(g, &m, shape, value);
    if (x && x->kind == X_LOAD)
        y = x->from;
    else if (x) {
        const op *is = x->kind == X_CALL ? named(&m, x) : NULL;
        y = is ? call_of(g, is, x) : g_formula_of(g, x);
    }
    arena_free(&m);
    return y;
}

const node *emit_over(graph *g, const type *shape, const expr *value)
{
    if (is_pointwise(shape, value))
        return emit_pointwise(g, shape, value);
    sum s = {.rank = shape->rank, .n_axis = shape->rank, .fold = "add", .value = value};
    memcpy(s.extent, shape->dim, sizeof shape->dim);
    return emit_sum(g, &s);
}
