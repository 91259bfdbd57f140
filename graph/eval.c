/* eval.c - the interpreter: slow, obvious, and the judge of every other way to compute. Reals in double,
 * integers as integers. */
#include "graph/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef union value {
    double d;
    int64_t i;
} value;
typedef struct env {
    const node *n;
    const ts_array *const *in;
    const int64_t *extent;
    int64_t axis[MAX_AXIS];
    value state[MAX_STATE];
    err *e;
} env;

static value eval(env *v, const expr *x);

static bool is_real(const expr *x)
{
    return dtype_class(x->dtype) == D_REAL;
}

static value rounded(dtype d, value a) /* what storing as d and loading back gives; f32 stays in double until stored */
{
    unsigned char b[16];
    if (d == TS_I64 || d == TS_F64 || d == TS_F32)
        return a;
    if (dtype_class(d) == D_REAL)
        return store_real(d, b, 0, a.d), (value){.d = load_real(d, b, 0)};
    return store_whole(d, b, 0, d == TS_BOOL ? a.i != 0 : a.i), (value){.i = load_whole(d, b, 0)};
}

static bool outside(env *v, int64_t s, int64_t dim, int axis)
{
    return (s < 0 || s >= dim) && !err_set(v->e, TS_NUMERICS, "%s: index %lld is outside 0...%lld of axis %d",
                                           v->n->op->name, (long long)s, (long long)dim - 1, axis);
}

static value eval_load(env *v, const expr *x)
{
    int64_t at = 0;
    int k = 0;
    while (v->n->in[k] != x->from)
        k++;
    for (int i = 0; i < x->n; i++) {
        const int64_t s = eval(v, x->arg[i]).i, dim = x->from->type.dim[i];
        if (outside(v, s, dim, i))
            return (value){0};
        at = at * dim + s;
    }
    const void *p = v->in[k]->data;
    return is_real(x) ? (value){.d = load_real(x->dtype, p, at)} : (value){.i = load_whole(x->dtype, p, at)};
}

static value eval_call(env *v, const expr *x)
{
    value a[MAX_ARG];
    /* Lazy: the other arm may be out of range */
    if (x->fn->result == R_SECOND)
        return eval(v, x->arg[eval(v, x->arg[0]).i ? 1 : 2]);
    for (int i = 0; i < x->n; i++)
        a[i] = eval(v, x->arg[i]);
    if (!is_real(x->arg[0])) {
        int64_t w[MAX_ARG];
        for (int i = 0; i < x->n; i++)
            w[i] = a[i].i;
        return rounded(x->dtype, (value){.i = x->fn->whole(w)});
    }
    double r[MAX_ARG];
    for (int i = 0; i < x->n; i++)
        r[i] = a[i].d;
    const double y = x->fn->real(r);
    return x->fn->result == R_BOOL ? (value){.i = y != 0} : rounded(x->dtype, (value){.d = y});
}

static value eval_cast(env *v, const expr *x)
{
    const value a = eval(v, x->arg[0]);
    if (is_real(x)) {
        const double d = is_real(x->arg[0]) ? a.d : x->arg[0]->dtype == TS_U64 ? (double)(uint64_t)a.i : (double)a.i;
        return rounded(x->dtype, (value){.d = x->dtype == TS_F32 ? (double)(float)d : d});
    }
    if (!is_real(x->arg[0]))
        return rounded(x->dtype, a);
    if (x->dtype == TS_BOOL)
        return (value){.i = a.d != 0};
    unsigned char b[16];
    store_real(x->dtype, b, 0, a.d);
    return (value){.i = load_whole(x->dtype, b, 0)};
}

static void fold_from(env *v, const expr *x, int axis, value *acc)
{
    while (axis < MAX_AXIS && !(x->folds >> axis & 1))
        axis++;
    if (axis == MAX_AXIS) {
        const value y = eval(v, x->arg[0]);
        if (is_real(x))
            acc->d = x->fn->real((const double[]){acc->d, y.d});
        else
            acc->i = x->fn->whole((const int64_t[]){acc->i, y.i});
        return;
    }
    for (int64_t i = 0; i < v->extent[axis] && !err_is(v->e); i++)
        v->axis[axis] = i, fold_from(v, x, axis + 1, acc);
}

static value eval_fold(env *v, const expr *x)
{
    value acc;
    const double unit = x->fn->unit;
    if (is_real(x))
        acc.d = unit;
    else if (isinf(unit)) {
        unsigned char b[16];
        store_real(x->dtype, b, 0, unit);
        acc.i = load_whole(x->dtype, b, 0);
    } else
        acc.i = (int64_t)unit;
    fold_from(v, x, 0, &acc);
    return is_real(x) ? acc : rounded(x->dtype, acc);
}

static value eval(env *v, const expr *x)
{
    switch (x->kind) {
    case X_LIT: return is_real(x) ? (value){.d = x->lit} : (value){.i = x->is_whole ? x->whole : (int64_t)x->lit};
    case X_AXIS: return (value){.i = v->axis[x->axis]};
    case X_LOAD: return eval_load(v, x);
    case X_CALL: return eval_call(v, x);
    case X_CAST: return eval_cast(v, x);
    case X_FOLD: return eval_fold(v, x);
    case X_STATE: return v->state[x->axis];
    case X_SCATTER:
    case X_ROUTINE:
    case X_WALK: break; /* the whole of a definition */
    }
    return (value){0};
}

/* A scatter's updates in index order, into the result as it stands. */
static void put_in(env *v, const expr *x, int axis, value *result)
{
    while (axis < MAX_AXIS && !(x->folds >> axis & 1))
        axis++;
    for (int64_t i = 0; axis < MAX_AXIS && i < v->extent[axis] && !err_is(v->e); i++)
        v->axis[axis] = i, put_in(v, x, axis + 1, result);
    if (axis < MAX_AXIS)
        return;
    int64_t at = 0;
    for (int i = 2; i < x->n; i++) {
        const int64_t s = eval(v, x->arg[i]).i, dim = v->n->type.dim[i - 2];
        if (outside(v, s, dim, i - 2))
            return;
        at = at * dim + s;
    }
    const value y = eval(v, x->arg[1]);
    value *to = &result[at];
    if (!x->fn)
        *to = y;
    else if (is_real(x))
        to->d = x->fn->real((const double[]){to->d, y.d});
    else
        *to = rounded(x->dtype, (value){.i = x->fn->whole((const int64_t[]){to->i, y.i})});
}

static void walk(env *v, const expr *x, int rank, int axis, value **at)
{
    if (axis < rank)
        for (int64_t i = 0; i < v->extent[axis] && !err_is(v->e); i++)
            v->axis[axis] = i, walk(v, x, rank, axis + 1, at);
    else
        *(*at)++ = eval(v, x);
}

/* ---- states carried along axes ---- */
static void step(env *v, const expr *x)
{
    value next[MAX_STATE];
    const int n = x->n / 2;
    for (int k = 0; k < n; k++)
        next[k] = eval(v, x->arg[n + k]);
    memcpy(v->state, next, (size_t)n * sizeof *next);
}

static void fold_states(env *v, const expr *x, int axis)
{
    while (axis < MAX_AXIS && !(x->folds >> axis & 1))
        axis++;
    for (int64_t i = 0; axis < MAX_AXIS && i < v->extent[axis] && !err_is(v->e); i++)
        v->axis[axis] = i, fold_states(v, x, axis + 1);
    if (axis == MAX_AXIS)
        step(v, x);
}

/* All points of the result's axes from `axis` on; those along a scan at once. */
static void walk_states(env *v, const expr *x, int axis, int64_t at, value *result)
{
    const type *t = &v->n->type;
    const bool scan = !x->folds;
    if (axis < t->rank) {
        const int64_t n = scan && axis == x->axis ? 1 : t->dim[axis];
        for (int64_t i = 0; i < n && !err_is(v->e); i++)
            v->axis[axis] = i, walk_states(v, x, axis + 1, at * t->dim[axis] + i, result);
        return;
    }
    for (int k = 0; k < x->n / 2; k++)
        v->state[k] = eval(v, x->arg[k]);
    if (!scan) {
        fold_states(v, x, 0);
        result[at] = eval(v, x->arg[x->n - 1]);
        return;
    }
    int64_t stride = 1;
    for (int i = x->axis + 1; i < t->rank; i++)
        stride *= t->dim[i];
    for (int64_t i = 0; i < t->dim[x->axis] && !err_is(v->e); i++) {
        v->axis[x->axis] = i, step(v, x);
        result[at + i * stride] = eval(v, x->arg[x->n - 1]);
    }
}

static void store(const expr *x, const value *from, int64_t n, ts_array *out)
{
    for (int64_t i = 0; i < n; i++)
        if (is_real(x))
            store_real(out->dtype, out->data, i, from[i].d);
        else
            store_whole(out->dtype, out->data, i, from[i].i);
}

static bool eval_expression(const node *n, const ts_array *const *in, const defn *d, ts_array *out, err *e)
{
    env v = {.n = n, .in = in, .extent = d->extent, .e = e};
    const expr *x = d->value;
    const int64_t count = type_count(&n->type);
    value *all = calloc((size_t)count + 1, sizeof *all), *at = all;
    MUST(all);
    if (x->kind == X_WALK)
        walk_states(&v, x, 0, 0, all);
    else
        walk(&v, x->kind == X_SCATTER ? x->arg[0] : x, n->type.rank, 0, &at);
    if (x->kind == X_SCATTER)
        put_in(&v, x, 0, all);
    store(x, all, count, out);
    free(all);
    return !err_is(e);
}

static bool run_routine(const node *n, const ts_array *const *in, const expr *x, ts_array *out)
{
    void *at[MAX_PART + 1];
    char types[MAX_PART + 2] = {0}, *scratch = malloc((size_t)x->run->scratch + 1);
    MUST(scratch);
    for (int i = 0; i < n->n_in; i++)
        at[i] = in[i]->data, types[i] = routine_type(in[i]->dtype, false);
    at[n->n_in] = out->data, types[n->n_in] = routine_type(out->dtype, false);
    x->run->run(at, types, x->run->param, scratch, 0, 1);
    free(scratch);
    return true;
}

bool node_eval(const node *n, const ts_array *const *in, ts_array *out, err *e)
{
    arena mem = {0};
    defn d;
    err own = {0};
    bool ok = g_defn(n, &mem, &d, &own) && ts_array_make(out, n->type.dtype, n->type.rank, n->type.dim, &own);
    if (ok) {
        ok = d.value->kind == X_ROUTINE ? run_routine(n, in, d.value, out) : eval_expression(n, in, &d, out, &own);
        if (!ok)
            ts_array_free(out);
    }
    arena_free(&mem);
    return ok || err_set(e, own.code, "%s", own.text);
}

/* ---- constants ---- */
enum { MAX_CHAIN = 4096 };

static const ts_array *leaf_value(graph *g, const node *n)
{
    preset *k = n->leaf->preset;
    if (k && k->value.data)
        return k->used = true, &k->value;
    if (n->leaf->kind == LEAF_INPUT || !n->leaf->data)
        return NULL;
    ts_array *a = arena_get(&g->mem, sizeof *a);
    *a = (ts_array){n->type.dtype, n->type.rank, {0}, (void *)(uintptr_t)n->leaf->data};
    memcpy(a->dim, n->type.dim, sizeof n->type.dim);
    return a;
}

static const ts_array *compute(graph *g, const node *n, int64_t most)
{
    const ts_array **in = arena_array(&g->mem, (size_t)n->n_in + 1, sizeof *in);
    ts_array got, *keep;
    if (++g->depth > MAX_CHAIN)
        return g->depth--, NULL;
    bool known = true;
    /* Inputs may be larger, by as much again at every step back. */
    const int64_t larger = most > INT64_MAX / 16 ? most : most * 16;
    for (int i = 0; known && i < n->n_in; i++)
        known = (in[i] = g_value(g, n->in[i], larger));
    g->depth--;
    if (!known || !node_eval(n, in, &got, NULL))
        return NULL;
    const size_t bytes = (size_t)type_bytes(&n->type);
    keep = arena_get(&g->mem, sizeof *keep);
    *keep = got, keep->data = memcpy(arena_get(&g->mem, bytes + 1), got.data, bytes);
    ts_array_free(&got);
    return keep;
}

const ts_array *g_value(graph *g, const node *n, int64_t most)
{
    static const ts_array none;
    if (type_count(&n->type) > most)
        return NULL;
    if (g->cap_value < g->cap) {
        const ts_array **more = arena_array(&g->mem, (size_t)g->cap, sizeof *more);
        if (g->cap_value)
            memcpy(more, g->value, (size_t)g->cap_value * sizeof *more);
        g->value = more, g->cap_value = g->cap;
    }
    if (!g->value[n->id]) {
        const ts_array *v = node_is_leaf(n) ? leaf_value(g, n) : compute(g, n, most);
        g->value[n->id] = v ? v : &none;
    }
    return g->value[n->id] == &none ? NULL : g->value[n->id];
}
