/* trips.c - the gradient of a scan: a scan backwards. The chain rule is applied to one trip, over what is bound in it
 * and what arrives for its results; states that the outcome reads are gathered on the way forth, and taken as rows on
 * the way back. The gradients of states are states there, those of slices are gathered, and those of what every trip
 * reads are summed in states. Where states are kept of every so many trips only, the way back is a scan over stretches
 * of these: the trips of each are made once more, then turned, in the same order of sums. Costly values within
 * a trip that its gradient reads (gates) are gathered as states are. */
#include "graph/ir/custom.h"
#include "graph/ir/rule.h"
#include "graph/ir/trip.h"

#include <stdlib.h>
#include <string.h>

/* ---- helpers ---- */
enum { MAX_INNER = 16, COSTLY = 10 }; /* a function of that cost, as graph/ir/fn.c counts */
typedef struct turning {
    trip_chain *chain;
    graph *g;
    const node *n; /* the scan */
    scan_form f;
    const node *const *dy;
    const node *bound[MAX_PART + 1]; /* what stands for operands in its trip, and for the trip's number */
    const node *seed[2 * MAX_PART];  /* for what arrives for a result of the trip */
    bool active[MAX_PART];           /* operands, states and slices that carry a gradient in a trip */
    const node *grad[MAX_PART];      /* of each operand, over all of these; NULL: none */
    bool kept[MAX_PART];             /* states that a gradient reads */
    int n_inner;
    const node *inner[MAX_INNER]; /* costly values of a trip that a gradient reads: kept, not computed again */
} turning;

static bool is_real(const type *t)
{
    return dtype_class(t->dtype) == D_REAL;
}

static int slice_of(const turning *t, int operand) /* or -1 */
{
    const int i = operand - t->f.n_state;
    return i >= 0 && i < t->f.n_slice ? i : -1;
}

static void find_bound(turning *t)
{
    const scan_trip *own = t->n->trip;
    for (int i = 0; i < t->n->n_in; i++) {
        type one = t->n->in[i]->type;
        if (slice_of(t, i) >= 0) {
            memmove(one.dim, one.dim + 1, (size_t)(one.rank - 1) * sizeof *one.dim);
            one.rank--;
        }
        t->bound[i] = trip_bound(t->g, i, &one);
    }
    t->bound[t->n->n_in] = trip_bound(t->g, t->n->n_in, &(type){.dtype = TS_I64});
    for (int i = 0; i < t->f.n_state + t->f.n_row; i++)
        t->seed[i] = trip_bound(t->g, t->n->n_in + 1 + i, &own->root[i]->type);
}

/* Which of all are on a way from one of the marked to root */
static bool is_reached(const node *root, const node *const *all, const bool *marked, int n)
{
    int count;
    ENDED_BY(heap_free) const node **need = g_reached_make(1, &root, &count);
    bool any = false;
    for (int i = 0; i < count && !any; i++)
        for (int k = 0; k < n && !any; k++)
            any = marked[k] && all[k] == need[i];
    return any;
}

/* A state that becomes something of what carries a gradient carries one. */
static void find_active(turning *t)
{
    const scan_trip *own = t->n->trip;
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < t->f.n_state; i++)
            if (!t->active[i] && is_real(&own->root[i]->type) &&
                is_reached(own->root[i], t->bound, t->active, t->n->n_in))
                t->active[i] = more = true;
    }
}

static bool is_costly(const node *n)
{
    ENDED_BY(arena_free) arena mem = {0};
    defn d;
    bool is = !n->leaf && !n->trip && !n->output && is_real(&n->type) && g_defn_calls(n, &mem, &d, NULL);
    return is && d.value->kind == X_CALL && d.value->fn->cost >= COSTLY;
}

static void find_inner(turning *t, int n_grad, const node *const *grad)
{
    const scan_trip *own = t->n->trip;
    const int n_own = g_reach(own->n_root, own->root, NULL), n_read = g_reach(n_grad, grad, NULL);
    ENDED_BY(heap_free) const node **all = heap_array((size_t)(n_own > n_read ? n_own : n_read) + 1, sizeof *all);
    ENDED_BY(heap_free) bool *read = heap_array((size_t)t->g->n + 1, sizeof *read);
    g_reach(n_grad, grad, all);
    for (int i = 0; i < n_read; i++)
        read[all[i]->id] = true;
    g_reach(own->n_root, own->root, all);
    for (int i = 0; i < n_own && t->n_inner < MAX_INNER; i++)
        if (read[all[i]->id] && is_costly(all[i]))
            t->inner[t->n_inner++] = all[i];
}

/* The chain rule within a trip. */
static bool turn_trip(turning *t)
{
    graph *g = t->g;
    const scan_trip *own = t->n->trip;
    const node *out[2 * MAX_PART], *seed[2 * MAX_PART], *in[MAX_PART], *grad[MAX_PART];
    int n_out = 0, n_in = 0;
    for (int i = 0; i < t->f.n_state + t->f.n_row; i++) {
        const bool counts = i < t->f.n_state ? t->active[i] : t->dy[i] && is_real(&own->root[i]->type);
        if (counts && is_reached(own->root[i], t->bound, t->active, t->n->n_in))
            out[n_out] = own->root[i], seed[n_out++] = t->seed[i];
    }
    for (int i = 0; i < t->n->n_in; i++)
        if (t->active[i])
            in[n_in++] = t->bound[i];
    if (!t->chain(g, n_out, out, seed, n_in, in, grad))
        return false;
    find_inner(t, n_in, grad);
    for (int i = 0, k = 0; i < t->n->n_in; i++)
        t->grad[i] = t->active[i] ? grad[k++] : NULL;
    for (int s = 0; s < t->f.n_state; s++)
        for (int i = 0; i < t->n->n_in; i++) {
            const bool one = true;
            t->kept[s] = t->kept[s] || (t->grad[i] && is_reached(t->grad[i], &t->bound[s], &one, 1));
        }
    return true;
}

/* ---- helpers: some of the trips ---- */
typedef struct stretch {
    int64_t trips, stretch;        /* stretch: of all trips, how many make one */
    const node *in[MAX_PART];      /* operands; slices have as many rows */
    const node *row[2 * MAX_PART]; /* what arrives for gathered rows; NULL: nothing */
    const node *number;            /* of the first trip; NULL: 0 */
} stretch;

static const node *number_of(const turning *t, const stretch *s, ts_scan *by, bool back)
{
    graph *g = t->g;
    const node *n = ts_scan_trip(by);
    if (back)
        n = g_call2(g, "subtract", g_scalar(g, TS_I64, (double)(s->trips - 1)), n);
    return s->number ? g_call2(g, "add", s->number, n) : n;
}

typedef struct keeping { /* what is gathered on the way forth */
    bool rows;           /* what the scan itself gathers: it is the same scan then, and more */
    const bool *states;  /* those that trips begin with */
    int64_t every;
    const node **inner; /* what becomes of the values within a trip; NULL: they are not kept */
} keeping;

/* Within a trip that is being built, the trip's results over what stands for what is bound in it. */
static bool made_over(turning *t, const stretch *s, ts_scan *by, const node **now, const node **root)
{
    graph *g = t->g;
    const scan_trip *own = t->n->trip;
    const scan_form *f = &t->f;
    const node *all[2 * MAX_PART + 1 + MAX_INNER];
    MUST(own->n_root + t->n_inner <= COUNT(all));
    memcpy(all, own->root, (size_t)own->n_root * sizeof *all);
    memcpy(all + own->n_root, t->inner, (size_t)t->n_inner * sizeof *all);
    for (int i = 0; i < t->n->n_in; i++)
        now[i] = i < f->n_state        ? ts_scan_state(by, s->in[i])
                 : slice_of(t, i) >= 0 ? ts_scan_slice(by, s->in[i], f->slice[slice_of(t, i)])
                                       : s->in[i];
    now[t->n->n_in] = number_of(t, s, by, false);
    if (err_is(&g->err) || !g_replace(g, own->n_root + t->n_inner, all, t->n->n_in + 1, t->bound, now, root))
        return false;
    for (int i = 0; i < f->n_state; i++)
        ts_scan_step(by, now[i], root[i]);
    return true;
}

/* The trips as they were. kept: the states that are asked for; on: where there is an early end, 1 of trips that were
 * made. */
static bool keep_states(turning *t, const stretch *s, const keeping *what, const node **kept, const node **on)
{
    graph *g = t->g;
    const scan_trip *own = t->n->trip;
    const scan_form *f = &t->f;
    ts_scan *by = ts_scan_begin(g, s->trips);
    const node *now[MAX_PART + 1], *root[2 * MAX_PART + 1 + MAX_INNER], *out[3 * MAX_PART + 1 + MAX_INNER];
    int n_row = f->n_state + (what->rows ? f->n_row : 0);
    if (!made_over(t, s, by, now, root))
        return false;
    for (int i = 0; what->rows && i < f->n_row; i++)
        if (f->every && f->every[i] > 1)
            scan_gather_every(by, root[f->n_state + i], f->every[i]);
        else
            ts_scan_gather(by, root[f->n_state + i], f->row[i]);
    for (int i = 0; i < f->n_state; i++)
        if (what->states[i])
            scan_gather_every(by, now[i], what->every);
    for (int i = 0; what->inner && i < t->n_inner; i++)
        ts_scan_gather(by, root[own->n_root + i], false);
    if (f->until) {
        const dtype real = is_real(&own->root[0]->type) ? own->root[0]->type.dtype : TS_F32;
        ts_scan_until(by, root[own->n_root - 1]);
        ts_scan_gather(by, g_scalar(g, real, 1), false);
    }
    if (!ts_scan_end(by, out))
        return false;
    for (int i = 0; i < f->n_state; i++)
        kept[i] = what->states[i] ? out[n_row++] : NULL;
    for (int i = 0; what->inner && i < t->n_inner; i++)
        what->inner[i] = out[n_row++];
    *on = f->until ? out[n_row] : NULL;
    return true;
}

/* What a trip hands back, unless it was not made */
static const node *chosen(graph *g, const node *on, const node *then, const node *otherwise)
{
    return on ? g_call3(g, "where", on, then, otherwise) : then;
}

typedef struct gathered { /* what the trips left */
    const node *const *state, *const *inner, *on;
} gathered;

/* The trips from the last one on. sum[i]: of active operand i that is no slice what it receives behind these trips,
 * then before them; dx[i]: of active slices. */
static bool turn_back(turning *t, const stretch *s, const gathered *kept, const node **sum, const node **dx)
{
    graph *g = t->g;
    const scan_form *f = &t->f;
    const int n_in = t->n->n_in, n_root = f->n_state + f->n_row;
    ts_scan *by = ts_scan_begin(g, s->trips);
    const node *from[3 * MAX_PART + 1 + MAX_INNER], *to[COUNT(from)], *state[MAX_PART] = {0};
    const node *grad[MAX_PART], *out[MAX_PART];
    const node *asked[MAX_PART], *mask = NULL;
    int n = 0, n_asked = 0, n_out = 0;
    for (int i = 0; i < n_in; i++)
        if (t->active[i] && slice_of(t, i) < 0)
            state[i] = ts_scan_state(by, sum[i]);
    for (int i = 0; i < n_in; i++) {
        const int row = slice_of(t, i);
        from[n] = t->bound[i];
        to[n++] = row >= 0          ? ts_scan_slice(by, s->in[i], !f->slice[row])
                  : i >= f->n_state ? s->in[i]
                  : t->kept[i]      ? ts_scan_slice(by, kept->state[i], true)
                                    : t->bound[i];
    }
    from[n] = t->bound[n_in], to[n++] = number_of(t, s, by, true);
    for (int i = 0; i < n_root; i++) {
        from[n] = t->seed[i];
        to[n++] = i < f->n_state ? (t->active[i] ? state[i] : t->seed[i])
                  : s->row[i]    ? ts_scan_slice(by, s->row[i], !f->row[i - f->n_state])
                                 : t->seed[i];
    }
    for (int i = 0; i < t->n_inner; i++)
        from[n] = t->inner[i], to[n++] = ts_scan_slice(by, kept->inner[i], true);
    if (kept->on)
        mask = ts_scan_slice(by, kept->on, true), mask = g_call2(g, "not_equal", mask, g_scalar_like(g, mask, 0));
    for (int i = 0; i < n_in; i++)
        if (t->grad[i])
            asked[n_asked++] = t->grad[i];
    if (err_is(&g->err) || !g_replace(g, n_asked, asked, n, from, to, grad))
        return false;
    for (int i = 0, k = 0; i < n_in; i++) {
        if (!t->grad[i])
            continue;
        const node *d = grad[k++];
        if (slice_of(t, i) >= 0)
            ts_scan_gather(by, chosen(g, mask, d, g_filled(g, &d->type, 0)), !f->slice[slice_of(t, i)]);
        else
            ts_scan_step(by, state[i], chosen(g, mask, i < f->n_state ? d : g_added(g, state[i], d), state[i]));
    }
    if (!ts_scan_end(by, out))
        return false;
    for (int i = 0; i < n_in; i++)
        if (state[i])
            sum[i] = out[n_out++];
    for (int i = 0; i < n_in; i++)
        if (t->grad[i] && !state[i])
            dx[i] = out[n_out++];
    return true;
}

/* What the stretch's operands receive, with its states kept between. */
static bool turn(turning *t, const stretch *s, bool rows, const node **sum, const node **dx)
{
    const node *kept[MAX_PART] = {0}, *inner[MAX_INNER], *on = NULL;
    bool more = t->f.until || t->n_inner;
    for (int i = 0; i < t->f.n_state; i++)
        more = more || t->kept[i];
    return (!more || keep_states(t, s, &(keeping){rows, t->kept, 1, inner}, kept, &on)) &&
           turn_back(t, s, &(gathered){kept, inner, on}, sum, dx);
}

/* ---- helpers: stretches of trips ---- */
static const node *forwards(graph *g, const node *x, bool back)
{
    return back ? g_call1(g, "flip axes=[0]", x) : x;
}

/* The first n * k rows as n times k, or back again: [trips, ...] -> [n, k, ...] -> [n * k, ...] */
static const node *in_stretches(graph *g, const node *x, int64_t n, int64_t k)
{
    type t = {.rank = x->type.rank + 1, .dim = {n, k}};
    if (t.rank > MAX_RANK)
        return g_fail(g, TS_UNSUPPORTED, "states kept of every so many trips, with a slice of rank %d", x->type.rank);
    memcpy(t.dim + 2, x->type.dim + 1, (size_t)(x->type.rank - 1) * sizeof *t.dim);
    return g_reshape(g, g_part(g, x, 0, 0, n * k), t.rank, t.dim);
}

static const node *in_rows(graph *g, const node *x)
{
    int64_t dim[MAX_RANK] = {x->type.dim[0] * x->type.dim[1]};
    memcpy(dim + 1, x->type.dim + 2, (size_t)(x->type.rank - 2) * sizeof *dim);
    return g_reshape(g, x, x->type.rank - 1, dim);
}

/* The last trips, which make no whole stretch; then dx has what their slices receive: dx[i] [trips - first, ...]. */
static bool turn_rest(turning *t, const stretch *all, int64_t first, const node *const *kept, const node **sum,
                      const node **dx)
{
    graph *g = t->g;
    const int64_t which = all->trips / all->stretch; /* of the stretches, that these begin */
    stretch s = {.trips = all->trips - first, .number = g_scalar(g, TS_I64, (double)first)};
    for (int i = 0; i < t->n->n_in; i++)
        s.in[i] = i < t->f.n_state      ? g_call1(g, "squeeze axes=[0]", g_part(g, kept[i], 0, which, 1))
                  : slice_of(t, i) >= 0 ? g_part(g, all->in[i], 0, first, s.trips)
                                        : all->in[i];
    for (int i = t->f.n_state; i < t->f.n_state + t->f.n_row; i++)
        s.row[i] = all->row[i] ? g_part(g, all->row[i], 0, first, s.trips) : NULL;
    return !err_is(&g->err) && turn(t, &s, false, sum, dx);
}

/* Whole stretches, from the last one on. kept[i] [n, ...] of state i, one more before a rest; sum[i], now[i], next[i]
 * as operand i; of slices rows[i] [k, ...] and out[i] [n, k, ...]. */
static bool turn_stretches(turning *t, const stretch *all, const node *const *kept, const node **sum, const node **dx)
{
    graph *g = t->g;
    const int64_t k = all->stretch, n = all->trips / k;
    ts_scan *by = ts_scan_begin(g, n);
    stretch s = {.trips = k};
    const node *now[MAX_PART] = {0}, *next[MAX_PART], *rows[MAX_PART] = {0}, *out[2 * MAX_PART];
    int n_out = 0;
    for (int i = 0; i < t->n->n_in; i++)
        next[i] = now[i] = sum[i] ? ts_scan_state(by, sum[i]) : NULL;
    for (int i = 0; i < t->n->n_in; i++)
        s.in[i] = i < t->f.n_state      ? ts_scan_slice(by, g_part(g, kept[i], 0, 0, n), true)
                  : slice_of(t, i) >= 0 ? ts_scan_slice(by, in_stretches(g, all->in[i], n, k), true)
                                        : all->in[i];
    for (int i = t->f.n_state; i < t->f.n_state + t->f.n_row; i++)
        s.row[i] = all->row[i] ? ts_scan_slice(by, in_stretches(g, all->row[i], n, k), true) : NULL;
    const node *left = g_call2(g, "subtract", g_scalar(g, TS_I64, (double)(n - 1)), ts_scan_trip(by)); /* [] */
    s.number = g_call2(g, "multiply", left, g_scalar(g, TS_I64, (double)k));
    if (err_is(&g->err) || !turn(t, &s, false, next, rows))
        return false;
    for (int i = 0; i < t->n->n_in; i++)
        if (now[i])
            ts_scan_step(by, now[i], next[i]);
        else if (rows[i])
            ts_scan_gather(by, rows[i], true);
    if (!ts_scan_end(by, out))
        return false;
    for (int i = 0; i < t->n->n_in; i++)
        if (now[i])
            sum[i] = out[n_out++];
    for (int i = 0; i < t->n->n_in; i++)
        if (!now[i] && rows[i])
            dx[i] = in_rows(g, out[n_out++]);
    return true;
}

/* Slices and rows from here on go forwards. */
static bool turn_by(turning *t, stretch *all, int64_t k, const node **sum, const node **dx)
{
    static const int64_t none[2 * MAX_PART];
    graph *g = t->g;
    const scan_form f = t->f;
    const int64_t n = f.trips / k;
    const node *kept[MAX_PART] = {0}, *on, *rest[MAX_PART] = {0};
    bool every[MAX_PART];
    for (int i = 0; i < MAX_PART; i++)
        every[i] = true;
    if (!keep_states(t, all, &(keeping){true, every, k, NULL}, kept, &on))
        return false;
    for (int i = 0; i < t->n->n_in; i++)
        if (slice_of(t, i) >= 0)
            all->in[i] = forwards(g, all->in[i], f.slice[slice_of(t, i)]);
    for (int i = f.n_state; i < f.n_state + f.n_row; i++)
        all->row[i] = all->row[i] ? forwards(g, all->row[i], f.row[i - f.n_state]) : NULL;
    t->f.slice = t->f.row = none, t->f.every = NULL, all->stretch = k;
    if (err_is(&g->err) || (f.trips > n * k && !turn_rest(t, all, n * k, kept, sum, rest)) ||
        !turn_stretches(t, all, kept, sum, dx))
        return false;
    for (int i = 0; i < t->n->n_in; i++) {
        if (dx[i] && rest[i])
            dx[i] = g_call2(g, "concat axis=0", dx[i], rest[i]);
        if (dx[i])
            dx[i] = forwards(g, dx[i], f.slice[slice_of(t, i)]);
    }
    t->f = f;
    return !err_is(&g->err);
}

/* What arrives for a row that is gathered every so many trips, with zeros for those between: dy [gathered, ...], both
 * [gathered, k, ...] -> [trips, ...]. */
static const node *of_all_trips(const turning *t, int row, const node *dy)
{
    graph *g = t->g;
    const int64_t k = t->f.every ? t->f.every[row] : 1;
    type between = {.dtype = dy->type.dtype, .rank = dy->type.rank + 1, .dim = {dy->type.dim[0], k - 1}};
    if (k == 1)
        return dy;
    if (between.rank > MAX_RANK)
        return g_fail(g, TS_UNSUPPORTED, "of a row of rank %d that is gathered every %lld trips", dy->type.rank,
                      (long long)k);
    memcpy(between.dim + 2, dy->type.dim + 1, (size_t)(dy->type.rank - 1) * sizeof *between.dim);
    const node *both = g_call2(g, "concat axis=1", g_call1(g, "expand_dims axes=[1]", dy), g_filled(g, &between, 0));
    return both ? g_part(g, in_rows(g, both), 0, 0, t->f.trips) : NULL;
}

/* ---- grad ---- */
static int64_t kept_every(const scan_form *f) /* an early end is not known before it is come to: all are */
{
    int64_t k = f->keep;
    while (!f->keep && k * k < f->trips)
        k++;
    return f->until || k >= f->trips ? 1 : k;
}

bool trip_gradient(graph *g, const node *n, const node *const *dy, const bool *active, const node **dx,
                   trip_chain *chain)
{
    turning t = {.g = g, .chain = chain, .n = n, .f = scan_form_of(n), .dy = dy};
    stretch all = {.trips = t.f.trips};
    const node *sum[MAX_PART] = {0};
    for (int i = 0; i < n->n_in; i++) {
        t.active[i] = active[i] && is_real(&n->in[i]->type);
        all.in[i] = n->in[i];
    }
    for (int i = t.f.n_state; i < t.f.n_state + t.f.n_row; i++)
        all.row[i] = dy[i] && is_real(&dy[i]->type) ? of_all_trips(&t, i - t.f.n_state, dy[i]) : NULL;
    find_bound(&t), find_active(&t);
    if (!turn_trip(&t))
        return false;
    for (int i = 0; i < n->n_in; i++)
        if (t.active[i] && slice_of(&t, i) < 0)
            sum[i] = i < t.f.n_state && dy[i] ? dy[i] : g_filled(g, &n->in[i]->type, 0);
    const int64_t k = kept_every(&t.f);
    if (k > 1 ? !turn_by(&t, &all, k, sum, dx) : !turn(&t, &all, true, sum, dx))
        return false;
    for (int i = 0; i < n->n_in; i++)
        if (sum[i])
            dx[i] = sum[i];
    return !err_is(&g->err);
}
