/* spell.c - expressions as nodes: a named operation where one says the same, else a formula or an element. */
#include "graph/passes/spell.h"

enum { LONG = 160 }; /* what a formula may hold */

/* ---- element ---- */
const node *emit_spelled(graph *g, const spelling *s, const expr *value)
{
    const node *y = g_element_of(g, s, value);
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
static const op *named(arena *mem, const expr *x)
{
    names known = {.n = x->n, .name = {"a", "b", "c", "d"}};
    for (int i = 0; i < x->n; i++) {
        if (x->arg[i]->kind != X_LOAD && x->arg[i]->kind != X_LIT)
            return NULL;
        known.value[i] = x->arg[i];
    }
    for (const op *o = op_next(NULL); o; o = op_next(o)) {
        if (!o->text || o->arity != x->n || (o->attr && o->attr->name))
            continue;
        const expr *same = x_parse(mem, o->text, &known, NULL);
        if (same && x_same(same, x))
            return o;
    }
    return NULL;
}

/* What is too long for one text becomes a node of its own, and a load of it. */
static const expr *shortened(graph *g, arena *mem, const type *shape, const expr *x)
{
    const expr *arg[MAX_RANK];
    if (x->kind != X_CALL || x_parts(x) <= LONG)
        return x;
    for (int i = 0; i < x->n; i++) {
        arg[i] = x->arg[i];
        if (x_parts(arg[i]) <= LONG / 4 || dtype_class(arg[i]->dtype) != D_REAL)
            continue;
        const node *part = emit_pointwise(g, shape, arg[i]);
        const expr *sub[MAX_RANK];
        if (!part)
            return NULL;
        const int skip = shape->rank - part->type.rank;
        for (int k = 0; k < part->type.rank; k++)
            sub[k] = part->type.dim[k] == shape->dim[k + skip] ? x_axis(mem, k + skip) : x_whole(mem, 0);
        arg[i] = x_load(mem, part, sub);
    }
    return x_apply(mem, x->fn, x->n, arg);
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
    ENDED_BY(arena_free) arena mem = {0};
    const node *y = NULL;
    const expr *x = shortened(g, &mem, shape, value);
    if (x && x->kind == X_LOAD)
        y = x->from;
    else if (x) {
        const op *is = x->kind == X_CALL ? named(&mem, x) : NULL;
        y = is ? call_of(g, is, x) : g_formula_of(g, x);
    }
    return y;
}

const node *emit_over(graph *g, const type *shape, const expr *value)
{
    if (is_pointwise(shape, value))
        return emit_pointwise(g, shape, value);
    return emit_spelled(g, &(spelling){shape->rank, 0, shape->dim, "add", NULL}, value);
}
