/* trips_batch.c - batches of scans: one scan, over states and rows with one more axis in front. A state has it where
 * what it begins with, or what a trip makes of it, depends on the batch. Where some values of the batch end before
 * others, these keep their states and gather zeros until all have ended. */
#include "graph/ir/custom.h"
#include "graph/ir/rule.h"
#include "graph/ir/trip.h"

#include <stdlib.h>

/* ---- helpers ---- */
typedef struct turning {
    trip_batching *batch;
    graph *g;
    const node *n; /* the scan */
    scan_form f;
    int64_t size;
    const node *const *in; /* as trip_batch has it */
    ts_scan *by;
    bool *depends;    /* by id, of a trip's nodes: on the batch */
    bool *wide;       /* of each operand: what stands for it has the axis */
    bool apart;       /* values end one by one */
    const node *done; /* then a state: which have, [size] */
    const node **now; /* what stands for each operand, and for the number */
    const node **root;
} turning;

/* ---- helpers: what depends on the batch ---- */
static void find_depends(turning *t, int n, const node *const *need)
{
    for (int i = 0; i < n; i++) {
        const node *x = need[i];
        const int64_t k = x->leaf && x->leaf->bound ? trip_operand(x) : t->n->n_in;
        bool any = k < t->n->n_in && t->wide[k];
        for (int p = 0; p < x->n_in; p++)
            any = any || t->depends[x->in[p]->id];
        t->depends[x->id] = any;
    }
}

static void find_wide(turning *t)
{
    const scan_trip *trip = t->n->trip;
    int n;
    ENDED_BY(heap_free) const node **need = g_reached_make(trip->n_root, trip->root, &n);
    bool more = true;
    for (int i = 0; i < t->n->n_in; i++)
        t->wide[i] = t->in[i] != NULL;
    while (more) {
        more = false;
        find_depends(t, n, need);
        t->apart = t->f.until && t->depends[trip->root[trip->n_root - 1]->id];
        for (int i = 0; i < t->f.n_state; i++)
            if (!t->wide[i] && (t->apart || t->depends[trip->root[i]->id]))
                t->wide[i] = more = true;
    }
}

/* ---- helpers: what goes in ---- */
static const node *turned(graph *g, const node *n) /* [a, b, ...] as [b, a, ...] */
{
    int64_t axes[MAX_RANK] = {1, 0};
    for (int i = 2; n && i < n->type.rank; i++)
        axes[i] = i;
    return n ? g_transpose(g, n, n->type.rank, axes) : NULL;
}

static const node *operand(const turning *t, int i) /* of the new scan */
{
    const node *own = t->in[i] ? t->in[i] : t->n->in[i];
    if (i < t->f.n_state)
        return t->wide[i] && !t->in[i] ? g_repeated(t->g, own, t->size) : own;
    return i < t->f.n_state + t->f.n_slice && t->in[i] ? turned(t->g, own) : own;
}

static bool begin(turning *t)
{
    const node *n = t->n;
    for (int i = 0; i < n->n_in; i++) {
        const node *x = operand(t, i);
        if (!x)
            return false;
        t->now[i] = i < t->f.n_state                  ? ts_scan_state(t->by, x)
                    : i < t->f.n_state + t->f.n_slice ? ts_scan_slice(t->by, x, t->f.slice[i - t->f.n_state] != 0)
                                                      : x;
    }
    t->now[n->n_in] = ts_scan_trip(t->by);
    const node *none = t->apart ? g_repeated(t->g, g_scalar(t->g, TS_BOOL, 0), t->size) : NULL; /* [size] */
    t->done = none ? ts_scan_state(t->by, none) : NULL;
    return !err_is(&t->g->err);
}

/* ---- helpers: a trip ---- */
static const node *bound_of(const turning *t, int k)
{
    const bool slice = k >= t->f.n_state && k < t->f.n_state + t->f.n_slice;
    const type is = k < t->n->n_in ? t->n->in[k]->type : (type){.dtype = TS_I64}, row = slice ? trip_row(&is) : is;
    return trip_bound(t->g, k, &row);
}

/* What does not depend on the batch is put in first; over the rest a trip's results are batched. */
static bool make_roots(turning *t)
{
    const scan_trip *trip = t->n->trip;
    const int n = t->n->n_in + 1;
    graph *g = t->g;
    const node **from = arena_array(&g->mem, 2 * (size_t)n, sizeof *from), **to = from + n;
    int pairs = 0;
    for (int k = 0; k < n; k++)
        if (k == t->n->n_in || !t->wide[k])
            from[pairs] = bound_of(t, k), to[pairs++] = t->now[k];
    if (!g_replace(g, trip->n_root, trip->root, pairs, from, to, t->root))
        return false;
    pairs = 0;
    for (int k = 0; k < t->n->n_in; k++)
        if (t->wide[k])
            from[pairs] = bound_of(t, k), to[pairs++] = t->now[k];
    bool ok = true;
    for (int i = 0; i < trip->n_root && ok; i++)
        if (t->depends[trip->root[i]->id])
            ok = t->batch(g, 1, &t->root[i], pairs, from, to, &t->root[i]);
    return ok || err_in(&g->err, "a trip of %s", t->n->op->name);
}

static const node *chosen(const turning *t, const node *ended, const node *value) /* by values of the batch */
{
    int64_t shape[MAX_RANK] = {t->size};
    for (int i = 1; value && i < value->type.rank; i++)
        shape[i] = 1;
    const node *done = value ? g_reshape(t->g, t->done, value->type.rank, shape) : NULL; /* [size, 1, ...] */
    return g_call3(t->g, "where", done, ended, value);
}

static const node *wide_root(const turning *t, int i)
{
    return t->depends[t->n->trip->root[i]->id] ? t->root[i] : g_repeated(t->g, t->root[i], t->size);
}

/* Whether row i has the axis: it depends on the batch, or on which values have ended. */
static bool is_wide_row(const turning *t, int i)
{
    return t->apart || t->depends[t->n->trip->root[t->f.n_state + i]->id];
}

static bool give_row(const turning *t, int i)
{
    const int at = t->f.n_state + i;
    const node *row = is_wide_row(t, i) ? wide_root(t, at) : t->root[at]; /* [size, row...], or [row...] */
    if (t->apart && row)
        row = chosen(t, g_filled(t->g, &row->type, 0), row);
    return row && (t->f.every && t->f.every[i] > 1 ? scan_gather_every(t->by, row, t->f.every[i])
                                                   : ts_scan_gather(t->by, row, t->f.row[i] != 0));
}

static bool step(const turning *t)
{
    graph *g = t->g;
    const scan_form *f = &t->f;
    bool ok = true;
    for (int i = 0; i < f->n_state && ok; i++) {
        const node *next = t->wide[i] ? wide_root(t, i) : t->root[i]; /* [size, state...], or [state...] */
        ok = next && ts_scan_step(t->by, t->now[i], t->apart ? chosen(t, t->now[i], next) : next);
    }
    for (int i = 0; i < f->n_row && ok; i++)
        ok = give_row(t, i);
    const node *last = f->until ? t->root[t->n->trip->n_root - 1] : NULL; /* [size] or [] */
    if (ok && t->apart) {
        last = g_call2(g, "logical_or", t->done, last);
        ok = last && ts_scan_step(t->by, t->done, last);
        last = g_call1(g, "all", last);
    }
    return ok && (!f->until || (last && ts_scan_until(t->by, last)));
}

/* ---- passes ---- */
static bool finish(const turning *t, const node **out)
{
    const scan_form *f = &t->f;
    const node *all[2 * MAX_PART + 2];
    if (!ts_scan_end(t->by, all))
        return false;
    for (int i = 0; i < f->n_state; i++)
        out[i] = t->wide[i] ? all[i] : g_repeated(t->g, all[i], t->size);
    for (int i = 0; i < f->n_row; i++) {
        const node *row = all[f->n_state + t->apart + i];
        out[f->n_state + i] = is_wide_row(t, i) ? turned(t->g, row) : g_repeated(t->g, row, t->size);
    }
    return !err_is(&t->g->err);
}

bool trip_batch(graph *g, const node *n, int64_t size, const node *const *in, const node **out, trip_batching *batch)
{
    arena *mem = &g->mem;
    const scan_trip *trip = n->trip;
    turning t = {.g = g, .batch = batch, .n = n, .f = scan_form_of(n), .size = size, .in = in};
    int most = 0;
    for (int i = 0; i < trip->n_root; i++)
        most = trip->root[i]->id > most ? trip->root[i]->id : most;
    t.depends = arena_array(mem, (size_t)most + 1, sizeof *t.depends);
    t.wide = arena_array(mem, (size_t)n->n_in + 1, sizeof *t.wide);
    t.now = arena_array(mem, (size_t)n->n_in + 1, sizeof *t.now);
    t.root = arena_array(mem, (size_t)trip->n_root + 1, sizeof *t.root);
    find_wide(&t);
    t.by = ts_scan_begin(g, t.f.trips);
    return t.by && begin(&t) && ts_scan_keep(t.by, t.f.keep) && make_roots(&t) && step(&t) && finish(&t, out);
}
