/* batch.c - a computation over a batch of values at once. Every node that depends on what is batched is defined once
 * more, with one more axis in front: of its result, and of every operand that has it. Where the same operation over
 * such operands has that very definition, it is taken; where not, the definition is spelled out. Scans make their trips
 * over the batch (graph/ops/trips_batch.c). */
#include "autodiff/autodiff.h"
#include "graph/affine/linear.h"
#include "graph/ir/attr.h"
#include "graph/ir/custom.h"
#include "graph/ir/rule.h"
#include "graph/ir/trip.h"

#include <stdlib.h>
#include <string.h>

typedef struct batched_scan { /* whose outputs have the axis in front */
    const node *scan, **out;
    const struct batched_scan *next;
} batched_scan;

typedef struct batching {
    graph *g;
    int n;            /* nodes that were there before */
    int64_t size;     /* of the batch */
    const node **now; /* by id: with the axis in front; NULL: it does not depend on the batch */
    const batched_scan *scans;
} batching;

static const node *batched(const batching *b, const node *n) /* [size, as n...]; NULL: it is as it was */
{
    return n->id < b->n ? b->now[n->id] : NULL;
}

/* With axes of one element behind that of the batch, so that others broadcast against it: [size, 1..., as n...]. */
static const node *aligned(const batching *b, const node *n, int rank)
{
    const node *now = batched(b, n);
    int64_t shape[MAX_RANK] = {b->size};
    const int own = n->type.rank, skip = rank - own;
    if (!now || skip <= 0 || rank >= MAX_RANK)
        return now ? now : n;
    for (int i = 0; i < rank; i++)
        shape[1 + i] = i < skip ? 1 : n->type.dim[i - skip];
    return g_reshape(b->g, now, rank + 1, shape);
}

/* ---- the definition with one more axis ---- */
typedef struct widening {
    const batching *b;
    defn d;           /* what is made: axis 0 is the batch's */
    const node *like; /* operands aligned as for its call; NULL: as they are */
    const expr *axis[MAX_AXIS];
} widening;

static const expr *widen_one(void *user, const expr *x)
{
    const widening *w = user;
    const node *now = x->kind == X_LOAD ? batched(w->b, x->from) : NULL;
    const expr *sub[MAX_RANK + 1];
    if (!now)
        return x;
    if (w->like)
        now = aligned(w->b, x->from, w->like->type.rank);
    const int skip = now->type.rank - x->n;
    for (int i = 0; i < now->type.rank; i++)
        sub[i] = i >= skip ? x->arg[i - skip] : i ? x_whole(w->d.mem, 0) : x_axis(w->d.mem, 0);
    return x_load(w->d.mem, now, sub);
}

/* Axes move up by one; those of a scatter's places have the batch's among them, in front. */
static widening widen(const batching *b, const defn *old, const node *like)
{
    const int rank = old->node->type.rank, extra = old->value->kind == X_SCATTER ? 2 : 1;
    widening w = {b, {.mem = old->mem, .node = old->node, .n_axis = old->n_axis + extra}, like, {0}};
    w.d.extent[0] = b->size;
    for (int a = 0; a < old->n_axis; a++) {
        const int to = a + (a < rank ? 1 : extra);
        w.axis[a] = x_axis(old->mem, to), w.d.extent[to] = old->extent[a];
    }
    if (extra == 2)
        w.d.extent[rank + 1] = b->size;
    return w;
}

/* The batch's axis of a scatter's updates is not that of its result. */
static const expr *widened_scatter(widening *w, const expr *x)
{
    arena *mem = w->d.mem;
    const int own = x->n - 1; /* the result has n - 2 dimensions */
    const expr *map[MAX_AXIS] = {x_axis(mem, own)}, *part[MAX_RANK + 3];
    uint32_t axes = 1u << own;
    for (int i = 0; i < x->n; i++) {
        const expr *a = x_map(mem, x_rename(mem, x->arg[i], MAX_AXIS, w->axis), widen_one, w);
        part[i < 2 ? i : i + 1] = i ? x_rename(mem, a, 1, map) : a;
    }
    for (int a = 0; a < MAX_AXIS; a++)
        if (x->folds >> a & 1)
            axes |= 1u << w->axis[a]->axis;
    part[2] = x_axis(mem, own);
    return x_scatter(mem, x->dtype, x->fn ? x->fn->name : NULL, axes, x->n + 1, part);
}

static const expr *widened(widening *w, const expr *x)
{
    if (x->kind == X_SCATTER)
        return widened_scatter(w, x);
    return x_map(w->d.mem, x_rename(w->d.mem, x, MAX_AXIS, w->axis), widen_one, w);
}

/* ---- the same operation: perhaps with its axes counted by one more; its definition says whether it is ---- */
static const attr *shifted(graph *g, const node *y, bool by_one)
{
    const int n = op_n_attr(y->op);
    attr *list = arena_array(&g->mem, (size_t)n + 1, sizeof *list);
    for (int k = 0; k < n; k++) {
        attr *a = &list[k];
        *a = y->attr[k];
        if (!by_one || !attr_is_axes(a))
            continue;
        a->i += a->kind == 'i' && a->i >= 0;
        int64_t *ints = arena_array(&g->mem, (size_t)a->n + 1, sizeof *ints);
        for (int i = 0; a->kind == 'I' && i < a->n; i++)
            ints[i] = a->ints[i] + (a->ints[i] >= 0);
        if (a->kind == 'I')
            a->ints = ints;
    }
    return list;
}

/* A routine that does each of several sets by itself does those of all values. */
static bool is_routine(const expr *made, const batching *b, const expr *was)
{
    const routine *now = made->run, *old = was->run;
    if (made->kind != X_ROUTINE || !old->sets || now->run != old->run || now->n_parameter != old->n_parameter ||
        now->parameter[0] != b->size * old->parameter[0])
        return false;
    return !memcmp(now->parameter + 1, old->parameter + 1, (size_t)(old->n_parameter - 1) * sizeof *old->parameter);
}

static bool has_definition(const node *made, arena *mem, const defn *want, const expr *value)
{
    defn d;
    if (node_is_leaf(made) || made->type.rank != want->node->type.rank + 1 || !g_defn_calls(made, mem, &d, NULL) ||
        d.n_axis != want->n_axis || memcmp(d.extent, want->extent, (size_t)d.n_axis * sizeof *d.extent))
        return false;
    if (x_alone(value)) /* no sum of terms: x_tidy is for what is one element */
        return x_same(x_share(mem, d.value), x_share(mem, value));
    return x_same(x_tidy(mem, d.value, d.extent), x_tidy(mem, value, d.extent));
}

static const node *same_routine(const batching *b, const node *y, const defn *old)
{
    graph *g = b->g;
    const node *in[MAX_PART]; /* [size, as the operand...] */
    const int n_attr = op_n_attr(y->op);
    for (int i = 0; i < y->n_in; i++)
        in[i] = batched(b, y->in[i]) ? batched(b, y->in[i]) : g_repeated(b->g, y->in[i], b->size);
    for (int by_one = 0; by_one < 2 && old->value->run->sets && !err_is(&g->err); by_one++) {
        defn d;
        const node *made = g_make(g, y->op, y->n_in, in, shifted(g, y, by_one), n_attr); /* [size, as y...] */
        if (made && g_defn_calls(made, old->mem, &d, NULL) && is_routine(d.value, b, old->value))
            return made;
        g->err = (err){0}; /* it was an attempt */
    }
    return NULL;
}

static const node *same_operation(const batching *b, const node *y, const defn *old)
{
    graph *g = b->g;
    const int n_attr = op_n_attr(y->op);
    if (y->type.rank + 1 > MAX_RANK)
        return NULL;
    widening w = widen(b, old, y);
    const expr *value = widened(&w, old->value);
    const node **in = arena_array(&g->mem, (size_t)y->n_in + 1, sizeof *in);
    for (int i = 0; i < y->n_in; i++)
        in[i] = aligned(b, y->in[i], y->type.rank);
    for (int by_one = 0; by_one < 2 && !err_is(&g->err); by_one++) {
        const node *made = g_make(g, y->op, y->n_in, in, shifted(g, y, by_one), n_attr); /* [size, as y...] */
        if (made && has_definition(made, old->mem, &w.d, value))
            return made;
        g->err = (err){0}; /* it was an attempt */
    }
    return NULL;
}

/* ---- spelled out ---- */
/* Whether the batch's axis has room in front of y's own. */
static bool widens(const batching *b, const node *y, const defn *old)
{
    const int rank = y->type.rank + 1, all = old->n_axis + 1;
    if (all > MAX_AXIS || rank > MAX_RANK)
        g_fail(b->g, TS_UNSUPPORTED,
               "with the batch's it has %d axes and %d folded ones, at most %d and %d in all expected", rank,
               all - rank, MAX_RANK, MAX_AXIS);
    return all <= MAX_AXIS && rank <= MAX_RANK;
}

static const node *spelled(const batching *b, const node *y, const defn *old)
{
    if (!widens(b, y, old))
        return NULL;
    widening w = widen(b, old, NULL);
    const expr *x = widened(&w, old->value);
    const defn *d = &w.d;
    type shape = {.dtype = y->type.dtype, .rank = y->type.rank + 1};
    memcpy(shape.dim, d->extent, (size_t)shape.rank * sizeof *shape.dim);
    const expr *fold = x_find(x, X_FOLD);
    if (fold && fold != x && !(x->kind == X_CAST && x->arg[0] == fold)) { /* what follows the fold reads it */
        const node *n = emit_fold(b->g, d, shape.rank, fold->fn->name, fold->arg[0]); /* [size, as y...] */
        const expr *sub[MAX_RANK];
        for (int i = 0; i < shape.rank; i++)
            sub[i] = x_axis(d->mem, i);
        x = n ? x_replace(d->mem, x, fold, x_load(d->mem, n, sub)) : NULL;
        return x ? g_fitted(b->g, emit_over(b->g, &shape, x), &shape) : NULL;
    }
    if (fold)
        return g_fitted(b->g, emit_fold(b->g, d, shape.rank, fold->fn->name, fold->arg[0]), &shape);
    return g_fitted(b->g, emit_over(b->g, &shape, x), &shape);
}

/* A scatter over places that are spelled out, the batch's first. */
static const node *scattered(const batching *b, const node *y, const defn *old)
{
    const expr *sub[MAX_RANK + 1], *map[MAX_AXIS] = {0};
    arena *mem = old->mem;
    err e = {0};
    widening w = widen(b, old, NULL);
    const expr *x = widened_scatter(&w, old->value);
    type shape = {.dtype = y->type.dtype, .rank = y->type.rank + 1};
    memcpy(shape.dim, w.d.extent, (size_t)shape.rank * sizeof *shape.dim);
    const node *start = g_fitted(b->g, emit_over(b->g, &shape, x->arg[0]), &shape); /* [size, as y...] */
    const int n = w.d.n_axis - shape.rank;                                          /* over the updates' axes alone */
    for (int a = 0; a < n; a++)
        map[shape.rank + a] = x_axis(mem, a);
    for (int i = 0; i < shape.rank; i++)
        sub[i] = x_rename(mem, x->arg[2 + i], MAX_AXIS, map);
    const node *made = start ? emit_put(b->g, mem,
                                        &(putting){.start = start,
                                                   .reduce = x->fn ? x->fn->name : "set",
                                                   .n_axis = n,
                                                   .extent = w.d.extent + shape.rank,
                                                   .value = x_rename(mem, x->arg[1], MAX_AXIS, map),
                                                   .sub = sub},
                                        &e)
                             : NULL;
    if (err_is(&e))
        g_fail(b->g, e.code, "%s", e.text);
    return made;
}

/* A fold of several values, with one more axis in front. */
static const node *carried(const batching *b, const node *y, const defn *old)
{
    if (!widens(b, y, old))
        return NULL;
    widening w = widen(b, old, NULL);
    const int rank = y->type.rank + 1;
    return g_fold_of(b->g, &(spelling){.rank = rank, .n_fold = w.d.n_axis - rank, .extent = w.d.extent},
                     widened(&w, old->value));
}

/* ---- what does not depend on the batch ---- */
static bool depends(const batching *b, const expr *x)
{
    bool any = x->kind == X_LOAD && batched(b, x->from);
    for (int i = 0; i < x->n && !any; i++)
        any = depends(b, x->arg[i]);
    return any;
}

static int operations(const expr *x)
{
    int n = x->kind == X_CALL ? x->fn->cost : 0;
    for (int i = 0; x->kind != X_LOAD && i < x->n; i++)
        n += operations(x->arg[i]);
    return n;
}

/* x over y's shape, with parts that are the same for all of the batch as nodes of their own: computed once. */
static const expr *hoisted(const batching *b, const node *y, arena *mem, const expr *x, bool *any)
{
    const expr *arg[MAX_PART], *sub[MAX_RANK];
    const type shape = y->type;
    if (x->kind == X_CALL && x->dtype == shape.dtype && !depends(b, x) && x_count(x, X_LOAD) && operations(x) > 1) {
        const node *once = g_fitted(b->g, emit_pointwise(b->g, &shape, x), &shape); /* as y */
        for (int i = 0; i < shape.rank; i++)
            sub[i] = x_axis(mem, i);
        *any = *any || once;
        return once ? x_load(mem, once, sub) : x;
    }
    if (x->kind != X_CALL)
        return x;
    for (int i = 0; i < x->n; i++)
        arg[i] = hoisted(b, y, mem, x->arg[i], any);
    return x_apply(mem, x->fn, x->n, arg);
}

/* Pointwise, with such parts; NULL: it has none, or it cannot be. */
static const node *with_shared(const batching *b, const node *y, const defn *old)
{
    bool any = false;
    defn d = *old;
    if (x_alone(d.value) || !is_pointwise(&y->type, d.value) || dtype_class(y->type.dtype) != D_REAL)
        return NULL;
    d.value = hoisted(b, y, old->mem, old->value, &any);
    const node *made = any ? spelled(b, y, &d) : NULL; /* [size, as y...] */
    b->g->err = (err){0};                              /* it was an attempt */
    return made;
}

/* ---- scans ---- */
static const node *scan_made(batching *b, const node *y) /* its first output, and all of them into scans */
{
    arena *mem = &b->g->mem;
    batched_scan *s = arena_get(mem, sizeof *s);
    const node **in = arena_array(mem, (size_t)y->n_in + 1, sizeof *in); /* [size, as the operand...] */
    *s = (batched_scan){y, arena_array(mem, (size_t)custom_outputs(y), sizeof *s->out), b->scans};
    for (int i = 0; i < y->n_in; i++)
        in[i] = batched(b, y->in[i]);
    if (!trip_batch(b->g, y, b->size, in, s->out, ts_batch))
        return NULL;
    b->scans = s;
    return s->out[0];
}

static const node *scan_output(const batching *b, const node *y) /* NULL: it is none of a batched scan */
{
    int index;
    const node *of = custom_call(y, &index);
    const batched_scan *s = of && of->trip ? b->scans : NULL;
    while (s && s->scan != of)
        s = s->next;
    return s ? s->out[index] : NULL;
}

/* ---- the pass ---- */
/* The same operation where all operands have the batch's axis: what does not depend on it is repeated along it. */
static const node *over_repeated(const batching *b, const node *y, const defn *old) /* [size, as y...] */
{
    bool *lent = arena_array(&b->g->mem, (size_t)y->n_in + 1, sizeof *lent);
    const node *made = NULL;
    bool ok = true;
    b->g->err = (err){0}; /* of what was tried */
    for (int i = 0; i < y->n_in && ok; i++)
        if ((lent[i] = !batched(b, y->in[i])))
            ok = y->in[i]->type.rank < MAX_RANK && (b->now[y->in[i]->id] = g_repeated(b->g, y->in[i], b->size));
    if (ok)
        made = same_operation(b, y, old);
    for (int i = 0; i < y->n_in; i++)
        if (lent[i])
            b->now[y->in[i]->id] = NULL;
    return made;
}

static const node *made_of(batching *b, const node *y) /* [size, as y...] */
{
    ENDED_BY(arena_free) arena mem = {0};
    defn d;
    int index;
    const node *made = NULL;
    graph *g = b->g;
    if (y->trip)
        made = scan_made(b, y);
    else if ((made = scan_output(b, y)))
        ; /* with it */
    else if (y->op->custom && y->op->custom->kernel)
        g_fail(g, TS_UNSUPPORTED,
               "a kernel has no elements that could be spelled out, an operation defined by a text expected");
    else if (custom_call(y, &index))
        g_fail(
            g, TS_UNSUPPORTED,
            "an output of a kernel has no elements that could be spelled out, an operation defined by a text expected");
    else if (g_defn_calls(y, &mem, &d, &g->err)) {
        made = d.value->kind == X_ROUTINE ? same_routine(b, y, &d) : with_shared(b, y, &d);
        if (!made && d.value->kind != X_ROUTINE)
            made = same_operation(b, y, &d);
        if (!made && d.value->kind == X_SCATTER)
            made = scattered(b, y, &d);
        else if (!made && d.value->kind == X_SCAN && d.value->folds)
            made = carried(b, y, &d);
        else if (!made && x_alone(d.value) && !(made = over_repeated(b, y, &d)))
            g_fail(g, TS_UNSUPPORTED, "it goes through all places in order, elements that stand alone expected");
        else if (!made && !x_alone(d.value) && !(made = spelled(b, y, &d))) {
            const err why = g->err;
            if (!(made = over_repeated(b, y, &d)))
                g->err = why;
        }
    }
    if (!made)
        err_in(&g->err, "batch of %s", y->op->name);
    return made;
}

static void make(batching *b, const node *y)
{
    bool any = false;
    for (int i = 0; i < y->n_in; i++)
        any = any || batched(b, y->in[i]);
    if (!any || b->now[y->id])
        return;
    const node *made = made_of(b, y); /* [size, as y...] */
    if (made && *y->label)
        g_label(b->g, made, y->label);
    b->now[y->id] = made;
}

static bool begin(batching *b, int n_pair, const node *const *from, const node *const *to)
{
    graph *g = b->g;
    if (!g_all(g, "batch for", n_pair, from) || !g_all(g, "batch of", n_pair, to))
        return false;
    for (int k = 0; k < n_pair; k++) {
        type want = to[k]->type;
        if (want.rank)
            memmove(want.dim, want.dim + 1, (size_t)--want.rank * sizeof *want.dim), want.dim[want.rank] = 0;
        if (!to[k]->type.rank || !type_equal(&want, &from[k]->type))
            return g_fail(g, TS_BAD_INPUT, "batch for \"%s\": expected its dtype, and its shape behind one more axis",
                          from[k]->label),
                   false;
        if (k && to[k]->type.dim[0] != b->size)
            return g_fail(g, TS_BAD_INPUT, "batch for \"%s\" has %lld values, expected %lld as the first one",
                          from[k]->label, (long long)to[k]->type.dim[0], (long long)b->size),
                   false;
        b->size = to[k]->type.dim[0], b->now[from[k]->id] = to[k];
    }
    return n_pair > 0 || (g_fail(g, TS_BAD_INPUT, "batch: %d tensors given, at least 1 expected", n_pair), false);
}

bool ts_batch(ts_graph *g, int n, const ts_tensor *t, int n_pair, const ts_tensor *from, const ts_tensor *to,
              ts_tensor *out)
{
    if (!g)
        return false;
    batching b = {.g = g, .n = g->n, .now = heap_array((size_t)g->n + 1, sizeof *b.now)};
    ENDED_BY(heap_free) const node **need = heap_array((size_t)g->n + 1, sizeof *need);
    bool ok = g_all(g, "batch", n, t);
    if (ok && begin(&b, n_pair, from, to)) {
        const int count = g_reach(n, t, need);
        for (int i = 0; i < count && !err_is(&g->err); i++)
            make(&b, need[i]);
    }
    ok = ok && !err_is(&g->err);
    for (int i = 0; i < n; i++)
        out[i] = !ok ? NULL : b.now[t[i]->id] ? b.now[t[i]->id] : g_repeated(g, t[i], b.size);
    free(b.now);
    return ok && !err_is(&g->err);
}
