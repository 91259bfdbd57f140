/* states.c - the gradient of a definition that carries states from point to point (argmax, online softmax, Welford):
 * its points become the trips of a scan, whose gradient is known. What of a step depends on no state is computed before
 * it, for all points at once: there gradients go to where it was read, and a trip takes its row. */
#include "autodiff/autodiff.h"

#include <string.h>

typedef struct walk {
    graph *g;
    arena *mem;
    const defn *d;
    const expr *x;   /* what carries the states */
    uint32_t walked; /* axes that points lie along: folded ones, or that of a scan */
    int64_t trips;
    type state;                   /* the shape of each; without a dtype */
    const expr *before[MAX_AXIS]; /* what stands for an axis before the scan, where axis 0 is the trip's number, */
    const expr *within[MAX_AXIS]; /* and within a trip; without trips: of states alone */
    ts_scan *scan;
    const node *now[MAX_STATE]; /* values of the states */
    int n_row;
    const expr *whole[MAX_PART]; /* what each trip takes a row of, */
    const node *row[MAX_PART];   /* and that row */
    int n_in;
    const node *in[MAX_PART], *own[MAX_PART]; /* operands, and what stands for them */
} walk;

/* ---- operands: apart from each other, so that no way leads from one to another ---- */
static void set_apart(walk *w, const node *n)
{
    bool known = !dtype_real(n->type.dtype);
    for (int i = 0; i < w->n_in; i++)
        known = known || w->in[i] == n;
    if (known)
        return;
    MUST(w->n_in < MAX_PART);
    w->in[w->n_in] = n, w->own[w->n_in++] = stand_in(w->g, &n->type, "x");
}

static const node *standing(const walk *w, const node *n)
{
    for (int i = 0; i < w->n_in; i++)
        if (w->in[i] == n)
            return w->own[i];
    return n;
}

static const expr *load_own(void *user, const expr *x)
{
    const walk *w = user;
    return x->kind == X_LOAD ? x_load(w->mem, standing(w, x->from), x->arg) : x;
}

/* ---- nodes ---- */
/* x over the state's axes; with `all`, over the trips before them. */
static const node *emit(walk *w, const expr *x, bool all)
{
    type t = {.dtype = x->dtype, .rank = w->state.rank + all};
    t.dim[0] = w->trips;
    memcpy(t.dim + all, w->state.dim, (size_t)w->state.rank * sizeof *t.dim);
    if (t.rank > MAX_RANK)
        return g_fail(w->g, TS_UNSUPPORTED, "its gradient needs %d axes, at most %d expected", t.rank, MAX_RANK);
    if (x->kind == X_LIT)
        return g_filled(w->g, &t, x->is_whole ? (double)x->whole : x->lit);
    if (!x_find(x, X_LOAD)) { /* what is spelled out reads something: a 0 */
        const expr *zero = x_load(w->mem, g_scalar(w->g, TS_I64, 0), NULL);
        x = x3(w->mem, "select", x2(w->mem, "eq", zero, x_whole(w->mem, 0)), x, x_cast(w->mem, t.dtype, zero));
    }
    sum s = {.rank = t.rank, .n_axis = t.rank, .fold = "add", .value = x};
    memcpy(s.extent, t.dim, sizeof t.dim);
    return g_fitted(w->g, emit_sum(w->g, &s), &t);
}

/* ---- axes ---- */
/* The trip's number as places along the axes walked, the last of them fastest. */
static void spread(walk *w, const expr *number, const expr **axis)
{
    int64_t stride = 1;
    for (int i = w->d->n_axis - 1; i >= 0; i--) {
        if (!(w->walked >> i & 1))
            continue;
        const int64_t extent = w->d->extent[i];
        const expr *at = stride == 1 ? number : x2(w->mem, "floordiv", number, x_whole(w->mem, stride));
        stride *= extent;
        axis[i] = stride == w->trips ? at : x2(w->mem, "mod", at, x_whole(w->mem, extent));
    }
}

static bool set_axes(walk *w)
{
    const defn *d = w->d;
    w->walked = w->x->folds ? w->x->folds : 1u << w->x->axis;
    w->trips = 1;
    for (int i = 0; i < d->n_axis; i++)
        if (!(w->walked >> i & 1)) {
            w->before[i] = x_axis(w->mem, w->state.rank + 1), w->within[i] = x_axis(w->mem, w->state.rank);
            w->state.dim[w->state.rank++] = d->extent[i];
        } else if (!int_mul(w->trips, d->extent[i], &w->trips)) {
            return g_fail(w->g, TS_UNSUPPORTED, "its gradient takes %lld times %lld trips, at most 2^63 - 1 expected",
                          (long long)w->trips, (long long)d->extent[i]),
                   false;
        }
    return true;
}

/* ---- a trip ---- */
/* The row of what no state has a part in: computed before the scan, and 0 where a choice by it does not take it. */
static const expr *row_of(walk *w, const expr *x)
{
    for (int i = 0; i < w->n_row; i++)
        if (x_same(w->whole[i], x))
            return w->row[i] ? x_element(w->mem, w->row[i]) : NULL;
    if (w->n_row == MAX_PART)
        return g_fail(w->g, TS_UNSUPPORTED, "its step reads %d values or more, at most %d expected", MAX_PART + 1,
                      MAX_PART),
               NULL;
    const node *all = emit(w, x_rename(w->mem, x, MAX_AXIS, w->before), true);
    const node *row = all ? ts_scan_slice(w->scan, all, false) : NULL;
    w->whole[w->n_row] = x, w->row[w->n_row++] = row;
    return row ? x_element(w->mem, row) : NULL;
}

/* x over the states as they are, within a trip; NULL: g->err says why. behind: choices around it that no state has a
 * part in, without which places may lie outside. */
typedef struct choosing choosing;
struct choosing {
    const choosing *outer;
    const expr *condition;
    bool taken;
};
static const expr *within(walk *w, const expr *x, const choosing *behind)
{
    arena *mem = w->mem;
    const expr *arg[MAX_PART];
    const bool free = !x_find(x, X_STATE), own = !(x_axes(x) & w->walked);
    if (x->kind == X_STATE)
        return x_element(mem, w->now[x->axis]);
    if (free && (own || !x_find(x, X_LOAD)))
        return x_rename(mem, x, MAX_AXIS, w->within);
    if (free) {
        for (; behind; behind = behind->outer) {
            const expr *no = x_cast(mem, x->dtype, x_whole(mem, 0));
            x = x3(mem, "select", behind->condition, behind->taken ? x : no, behind->taken ? no : x);
        }
        return row_of(w, x);
    }
    const bool chooses = x_is_choice(x) && !x_find(x->arg[0], X_STATE);
    for (int i = 0; i < x->n; i++) {
        const choosing here = {behind, x->arg[0], i == 1};
        if (!(arg[i] = within(w, x->arg[i], chooses && i ? &here : behind)))
            return NULL;
    }
    return x_again(mem, x, arg);
}

static const node *one(walk *w, const expr *x)
{
    const expr *y = within(w, x, NULL);
    return y ? emit(w, y, false) : NULL;
}

/* y by a scan. */
static const node *walked(walk *w)
{
    const int n = w->x->n_state;
    const node *next[MAX_STATE], *out[MAX_STATE + 1];
    int64_t order[MAX_RANK];
    w->scan = ts_scan_begin(w->g, w->trips);
    for (int k = 0; k < n; k++) {
        const node *first = emit(w, x_rename(w->mem, w->x->arg[k], MAX_AXIS, w->within), false);
        if (!(w->now[k] = first ? ts_scan_state(w->scan, first) : NULL))
            return NULL;
    }
    spread(w, x_axis(w->mem, 0), w->before);
    spread(w, x_load(w->mem, ts_scan_trip(w->scan), NULL), w->within);
    for (int k = 0; k < n; k++)
        if (!(next[k] = one(w, w->x->arg[n + k])) || !ts_scan_step(w->scan, w->now[k], next[k]))
            return NULL;
    memcpy(w->now, next, sizeof w->now);
    const node *each = w->x->folds ? NULL : one(w, x_result(w->x));
    if ((each && !ts_scan_gather(w->scan, each, false)) || !ts_scan_end(w->scan, out))
        return NULL;
    memcpy(w->now, out, (size_t)n * sizeof *out);
    if (w->x->folds)
        return one(w, x_result(w->x));
    for (int i = 0; i <= w->state.rank; i++)
        order[i] = i == w->x->axis ? 0 : i + (i < w->x->axis);
    return each ? g_transpose(w->g, out[n], w->state.rank + 1, order) : NULL;
}

const node *derive_states(graph *g, const defn *d, const node *dy, const node *of)
{
    walk w = {.g = g, .mem = d->mem, .d = d};
    const node *y = d->node, *own = NULL, *dx = NULL;
    for (int i = 0; i < y->n_in; i++)
        set_apart(&w, y->in[i]);
    w.x = x_map(d->mem, d->value, load_own, &w);
    if (!set_axes(&w) || !(own = g_fitted(g, walked(&w), &y->type)))
        return NULL;
    const node *x = standing(&w, of);
    if (!ts_chain_rule(g, 1, &own, &dy, 1, &x, &dx))
        return NULL;
    return g_replace(g, 1, &dx, w.n_in, w.own, w.in, &dx) ? dx : NULL;
}
