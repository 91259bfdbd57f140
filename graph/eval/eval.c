/* eval.c - the interpreter: slow, obvious, and the judge of every other way to compute. Reals in double,
 * integers as integers. */
#include "graph/eval/block.h"
#include "graph/eval/eval.h"
#include "graph/ir/custom.h"
#include "graph/ir/trip.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool folds_nothing(const block *b, const expr *x) /* an empty axis inside a long one: no trip counts */
{
    for (int a = 0; a < MAX_AXIS; a++)
        if (x->folds >> a & 1 && b->extent[a] == 0)
            return true;
    return false;
}

/* A scatter's updates in index order, into the result as it stands. */
static void put_in(block *b, const expr *x, int axis, value *result)
{
    while (axis < MAX_AXIS && !(x->folds >> axis & 1))
        axis++;
    for (int64_t i = 0; axis < MAX_AXIS && i < b->extent[axis] && !err_is(b->e); i++)
        b->axis[axis] = i, put_in(b, x, axis + 1, result);
    if (axis < MAX_AXIS)
        return;
    int64_t at = 0;
    for (int i = 2; i < x->n; i++) {
        const int64_t s = block_value(b, x->arg[i]).i, dim = b->n->type.dim[i - 2];
        if (block_outside(b, s, dim, i - 2))
            return;
        at = at * dim + s;
    }
    const value y = block_value(b, x->arg[1]);
    value *to = &result[at];
    if (!x->fn)
        *to = y;
    else if (dtype_real(x->dtype))
        to->d = x->fn->real((const double[]){to->d, y.d});
    else
        *to = block_rounded(x->dtype, (value){.i = fn_whole(x->fn, x->dtype, (const int64_t[]){to->i, y.i})});
}

/* ---- states carried along axes ---- */
static void begin(block *b, const expr *x)
{
    for (int k = 0; k < x->n_state; k++)
        b->state[k] = block_value(b, x->arg[k]);
}

static void step(block *b, const expr *x)
{
    value next[MAX_STATE];
    const int n = x->n_state;
    for (int k = 0; k < n; k++)
        next[k] = block_value(b, x->arg[n + k]);
    memcpy(b->state, next, (size_t)n * sizeof *next);
}

static void fold_states(block *b, const expr *x, int axis)
{
    while (axis < MAX_AXIS && !(x->folds >> axis & 1))
        axis++;
    for (int64_t i = 0; axis < MAX_AXIS && i < b->extent[axis] && !err_is(b->e); i++)
        b->axis[axis] = i, fold_states(b, x, axis + 1);
    if (axis == MAX_AXIS)
        step(b, x);
}

/* As fold_states, of those points alone that lie in this part. */
static void fold_part(block *b, const expr *x, int axis, int part, int64_t *at)
{
    while (axis < MAX_AXIS && !(x->folds >> axis & 1))
        axis++;
    for (int64_t i = 0; axis < MAX_AXIS && i < b->extent[axis] && !err_is(b->e); i++)
        b->axis[axis] = i, fold_part(b, x, axis + 1, part, at);
    if (axis == MAX_AXIS && b->parts->of[(*at)++ % b->parts->period] == part)
        step(b, x);
}

/* Halves of the parts into one another, down to one: as lanes do. */
static void merge_parts(block *b, const expr *x, value all[][MAX_STATE])
{
    const int n = x->n_state;
    for (int half, parts = b->parts->n; parts > 1; parts = half) {
        half = (parts + 1) / 2;
        for (int i = 0; i + half < parts; i++) {
            memcpy(b->state, all[i], (size_t)n * sizeof **all);
            memcpy(b->state + n, all[i + half], (size_t)n * sizeof **all);
            for (int k = 0; k < n; k++)
                all[i][k] = block_value(b, x_merge(x, k));
        }
    }
    memcpy(b->state, all[0], (size_t)n * sizeof **all);
}

static void fold_all(block *b, const expr *x)
{
    value all[EVAL_PARTS][MAX_STATE];
    const bool whole = !b->parts || !x_merge(x, 0);
    for (int i = 0; i < (whole ? 1 : b->parts->n); i++) {
        int64_t at = 0;
        begin(b, x);
        if (!folds_nothing(b, x) && whole)
            fold_states(b, x, 0);
        else if (!folds_nothing(b, x))
            fold_part(b, x, 0, i, &at);
        memcpy(all[i], b->state, sizeof all[i]);
    }
    if (!whole)
        merge_parts(b, x, all);
}

/* All points of the result's axes from `axis` on; those along a scan at once. */
static void scan_states(block *b, const expr *x, int axis, int64_t at, value *result)
{
    const type *t = &b->n->type;
    const bool scan = !x->folds;
    if (axis < t->rank) {
        const int64_t n = scan && axis == x->axis ? 1 : t->dim[axis];
        for (int64_t i = 0; i < n && !err_is(b->e); i++)
            b->axis[axis] = i, scan_states(b, x, axis + 1, at * t->dim[axis] + i, result);
        return;
    }
    if (!scan) {
        fold_all(b, x);
        result[at] = block_value(b, x_result(x));
        return;
    }
    begin(b, x);
    int64_t stride = 1;
    for (int i = x->axis + 1; i < t->rank; i++)
        stride *= t->dim[i];
    for (int64_t i = 0; i < t->dim[x->axis] && !err_is(b->e); i++) {
        b->axis[x->axis] = i, step(b, x);
        result[at + i * stride] = block_value(b, x_result(x));
    }
}

static void store(const expr *x, const value *from, int64_t at, int64_t n, ts_array *out)
{
    for (int64_t i = 0; i < n; i++)
        if (dtype_real(x->dtype))
            store_real(out->dtype, out->data, at + i, from[i].d);
        else
            store_whole(out->dtype, out->data, at + i, from[i].i);
}

typedef struct sink {
    block_sink base;
    const expr *x;
    ts_array *out;
    value *all; /* in place of out: more is done with the values before they are stored */
} sink;

static void take(block_sink *s, int64_t at, const value *v, int n)
{
    const sink *to = (const sink *)s;
    if (to->all)
        memcpy(to->all + at, v, (size_t)n * sizeof *v);
    else
        store(to->x, v, at, n, to->out);
}

typedef struct asked {
    const eval_parts *parts; /* NULL: folds go through their points in order */
    bool wide;
} asked;

static bool eval_expression(const node *n, const ts_array *const *in, const defn *d, const asked *how, ts_array *out,
                            err *e)
{
    block b = {.n = n, .in = in, .extent = d->extent, .parts = how->parts, .wide = how->wide, .e = e};
    const expr *x = d->value;
    const int64_t count = type_count(&n->type);
    sink to = {{take}, x, out, NULL};
    if (x->kind == X_SCAN || x->kind == X_SCATTER)
        MUST(to.all = calloc((size_t)count + 1, sizeof *to.all));
    if (x->kind == X_SCAN)
        scan_states(&b, x, 0, 0, to.all);
    else
        block_values(&b, x->kind == X_SCATTER ? x->arg[0] : x, &to.base);
    if (x->kind == X_SCATTER && !folds_nothing(&b, x))
        put_in(&b, x, 0, to.all);
    block_free(&b);
    if (to.all)
        store(x, to.all, 0, count, out);
    free(to.all);
    return !err_is(e);
}

/* Routines are C over arrays; what lies in a file as it came is copied. */
static void *aligned(arena *mem, const ts_array *a)
{
    const size_t width = (size_t)ts_dtype_bytes(a->dtype), bytes = (size_t)ts_array_count(a) * width;
    return (uintptr_t)a->data % width ? memcpy(arena_get(mem, bytes), a->data, bytes) : a->data;
}

/* ---- functions of the process ---- */
/* As the node says; what it does not is made anew. */
static ts_array narrowed(arena *mem, const ts_array *a, dtype d)
{
    ts_array to = *a;
    if (a->dtype == d)
        return to;
    to.dtype = d, to.data = arena_array(mem, (size_t)ts_array_count(a) + 1, (size_t)ts_dtype_bytes(d));
    array_copy(a, d, to.data);
    return to;
}

bool routine_call(const routine *r, const host_call *c, err *e)
{
    ENDED_BY(arena_free) arena mem = {0};
    ts_array in[MAX_PART], out = *c->out;
    if (!r->host)
        return trips_run(c, e);
    if (!c->wide || r->wides)
        return r->host(c, e);
    for (int i = 0; i < c->node->n_in; i++)
        in[i] = narrowed(&mem, &c->in[i], c->node->in[i]->type.dtype);
    if (out.dtype != c->node->type.dtype) {
        out.dtype = c->node->type.dtype;
        out.data = arena_array(&mem, (size_t)ts_array_count(&out) + 1, (size_t)ts_dtype_bytes(out.dtype));
    }
    const bool ok = r->host(&(host_call){c->node, in, &out, c->part, c->parts, false}, e);
    if (ok && out.dtype != c->out->dtype)
        array_copy(&out, c->out->dtype, c->out->data);
    return ok;
}

static bool run_host(const node *n, const ts_array *const *in, const routine *r, bool wide, ts_array *out, err *e)
{
    ENDED_BY(arena_free) arena mem = {0};
    ts_array all[MAX_PART];
    for (int i = 0; i < n->n_in; i++)
        all[i] = *in[i], all[i].data = aligned(&mem, in[i]);
    const host_call c = {n, all, out, 0, 1, wide};
    return !type_count(&n->type) || routine_call(r, &c, e);
}

static bool run_routine(const node *n, const ts_array *const *in, const expr *x, bool wide, ts_array *out, err *e)
{
    if (!x->run->run)
        return run_host(n, in, x->run, wide, out, e);
    ENDED_BY(arena_free) arena mem = {0};
    void *at[MAX_PART + 1];
    char types[MAX_PART + 2] = {0}, *scratch = arena_get(&mem, (size_t)x->run->scratch + 1);
    for (int i = 0; i < n->n_in; i++)
        at[i] = aligned(&mem, in[i]), types[i] = routine_type(in[i]->dtype, false);
    at[n->n_in] = out->data, types[n->n_in] = routine_type(out->dtype, false);
    x->run->run(at, types, x->run->parameter, scratch, 0, 1);
    return true;
}

static bool eval(const node *n, const ts_array *const *in, const asked *how, ts_array *out, err *e)
{
    ENDED_BY(arena_free) arena mem = {0};
    defn d;
    err own = {0};
    const type held = how->wide ? custom_wide(n) : n->type;
    bool ok = g_defn(n, &mem, &d, &own) && ts_array_make(out, held.dtype, held.rank, held.dim, &own);
    if (ok) {
        ok = d.value->kind == X_ROUTINE ? run_routine(n, in, d.value, how->wide, out, &own)
                                        : eval_expression(n, in, &d, how, out, &own);
        if (!ok)
            ts_array_free(out);
    }
    return ok || err_set(e, own.code, "%s", own.text);
}

bool node_eval_parts(const node *n, const ts_array *const *in, const eval_parts *parts, ts_array *out, err *e)
{
    return eval(n, in, &(asked){.parts = parts}, out, e);
}

bool node_eval(const node *n, const ts_array *const *in, ts_array *out, err *e)
{
    return node_eval_parts(n, in, NULL, out, e);
}

bool node_eval_wide(const node *n, const ts_array *const *in, ts_array *out, err *e)
{
    return eval(n, in, &(asked){.wide = true}, out, e);
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

static const ts_array *find(graph *g, const node *n, int64_t most, bool needed);

/* What is needed is worth more than what may be left as it is. */
static bool worth(graph *g, const node *n, bool needed)
{
    if (!needed)
        return true;
    g->work += node_points(n);
    g->tired = g->tired || g->work > g->most_work;
    return !g->tired;
}

static const ts_array *compute(graph *g, const node *n, int64_t most, bool needed)
{
    const ts_array **in = arena_array(&g->mem, (size_t)n->n_in + 1, sizeof *in);
    ts_array got, *keep;
    if (++g->depth > MAX_CHAIN)
        return g->tired = needed, g->depth--, NULL;
    bool known = true;
    /* Inputs may be larger, by as much again at every step back. */
    const int64_t larger = most > INT64_MAX / 16 ? most : most * 16;
    for (int i = 0; known && i < n->n_in; i++)
        known = (in[i] = find(g, n->in[i], larger, needed));
    g->depth--;
    if (!known || custom_impure(n) || !worth(g, n, needed) || !node_eval(n, in, &got, NULL))
        return NULL;
    const size_t bytes = (size_t)type_bytes(&n->type);
    keep = arena_get(&g->mem, sizeof *keep);
    *keep = got, keep->data = memcpy(arena_get(&g->mem, bytes + 1), got.data, bytes);
    ts_array_free(&got);
    return keep;
}

/* That something has no value is known for good only where nothing was left out. */
static const ts_array *find(graph *g, const node *n, int64_t most, bool needed)
{
    static const ts_array none;
    if (type_count(&n->type) > most)
        return NULL;
    if (needed && node_is_leaf(n) && n->leaf->of)
        return find(g, n->leaf->of, most, true);
    if (g->cap_value < g->cap) {
        g->value = arena_joined(&g->mem, g->value, g->cap_value, NULL, g->cap - g->cap_value, sizeof *g->value);
        g->cap_value = g->cap;
    }
    if (!g->value[n->id]) {
        const ts_array *v = node_is_leaf(n) ? leaf_value(g, n) : compute(g, n, most, needed);
        g->value[n->id] = v ? v : (node_is_leaf(n) || needed) && !g->tired ? &none : NULL;
    }
    return g->value[n->id] == &none ? NULL : g->value[n->id];
}

const ts_array *g_value(graph *g, const node *n, int64_t most)
{
    return find(g, n, most, false);
}

const ts_array *g_needed(graph *g, const node *n)
{
    return find(g, n, INT64_MAX, true);
}

bool g_wait(graph *g, err *e, const char *fmt, ...)
{
    char what[512];
    va_list list;
    va_start(list, fmt);
    vsnprintf(what, sizeof what, fmt, list);
    va_end(list);
    if (!g->tired)
        return g->waits = true, err_set(e, TS_UNSUPPORTED, "%s", what);
    g->tired = false;
    err_set(e, TS_UNSUPPORTED,
            "%s: from the values given they follow by more than %.0f elements that would have to be "
            "computed while the model is bound",
            what, g->most_work);
    return err_hint(e, "make an input of what decides, and give its value with --in, or raise --limit known=%.0f",
                    16 * g->most_work);
}

const ts_array *g_constant(graph *g, const node *n, int64_t most)
{
    return node_is_leaf(n) && n->leaf->kind != LEAF_INPUT ? g_value(g, n, most) : NULL;
}
