/* trips.c - the gradient of a scan: a scan backwards. The chain rule is applied to one trip, over what is bound in it
 * and what arrives for its results; states that the outcome reads are gathered on the way forth, and taken as rows on
 * the way back. The gradients of states are states there, those of slices are gathered, and those of what every trip
 * reads are summed in states. */
#include "graph/ir/custom.h"
#include "graph/ir/rule.h"
#include "graph/ir/trip.h"

#include <stdlib.h>
#include <string.h>

/* ---- helpers ---- */
typedef struct turning {
    graph *g;
    const node *n; /* the scan */
    scan_form f;
    const node *const *dy;
    const node *bound[MAX_PART + 1]; /* what stands for operands in its trip, and for the trip's number */
    const node *seed[2 * MAX_PART];  /* for what arrives for a result of the trip */
    bool active[MAX_PART];           /* operands, states and slices that carry a gradient in a trip */
    const node *grad[MAX_PART];      /* of each operand, over all of these; NULL: none */
    bool kept[MAX_PART];             /* states that a gradient reads */
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
    const int count = g_reach(1, &root, NULL);
    const node **need = calloc((size_t)count + 1, sizeof *need);
    bool any = false;
    MUST(need);
    g_reach(1, &root, need);
    for (int i = 0; i < count && !any; i++)
        for (int k = 0; k < n && !any; k++)
            any = marked[k] && all[k] == need[i];
    free(need);
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
    if (!ts_chain_rule(g, n_out, out, seed, n_in, in, grad))
        return false;
    for (int i = 0, k = 0; i < t->n->n_in; i++)
        t->grad[i] = t->active[i] ? grad[k++] : NULL;
    for (int s = 0; s < t->f.n_state; s++)
        for (int i = 0; i < t->n->n_in; i++) {
            const bool one = true;
            t->kept[s] = t->kept[s] || (t->grad[i] && is_reached(t->grad[i], &t->bound[s], &one, 1));
        }
    return true;
}

/* ---- some of the trips ---- */
typedef struct stretch {
    int64_t trips;
    const node *in[MAX_PART];    /* operands; slices have as many rows */
    const node *row[2 * MAX_PART]; /* what arrives for gathered rows; NULL: nothing */
    const node *number;          /* of the first trip; NULL: 0 */
} stretch;

typedef struct standing { /* in a trip that is being built: what stands for what is bound */
    const node *now[MAX_PART + 1];
} standing;

static const node *number_of(const turning *t, const stretch *s, ts_scan *by, bool back)
{
    graph *g = t->g;
    const node *n = ts_scan_trip(by);
    if (back)
        n = g_call2(g, "subtract", g_scalar(g, TS_I64, (double)(s->trips - 1)), n);
    return s->number ? g_call2(g, "add", s->number, n) : n;
}

/* The trips once more, as they were, with the states that each begins with. kept: those that are asked for; on: where
 * there is an early end, 1 of trips that were made. */
static bool keep_states(turning *t, const stretch *s, const node **kept, const node **on)
{
    graph *g = t->g;
    const scan_trip *own = t->n->trip;
    const scan_form *f = &t->f;
    ts_scan *by = ts_scan_begin(g, s->trips);
    standing at;
    const node *root[2 * MAX_PART + 1], *out[3 * MAX_PART + 1];
    int n_row = f->n_state + f->n_row;
    for (int i = 0; i < t->n->n_in; i++)
        at.now[i] = i < f->n_state          ? ts_scan_state(by, s->in[i])
                    : slice_of(t, i) >= 0 ? ts_scan_slice(by, s->in[i], f->slice[slice_of(t, i)])
                                          : s->in[i];
    at.now[t->n->n_in] = number_of(t, s, by, false);
    if (err_is(&g->err) || !g_replace(g, own->n_root, own->root, t->n->n_in + 1, t->bound, at.now, root))
        return false;
    for (int i = 0; i < f->n_state; i++)
        ts_scan_step(by, at.now[i], root[i]);
    for (int i = 0; i < f->n_row; i++)
        ts_scan_gather(by, root[f->n_state + i], f->row[i]);
    for (int i = 0; i < f->n_state; i++)
        if (t->kept[i])
            ts_scan_gather(by, at.now[i], false);
    if (f->until) {
        const dtype real = is_real(&own->root[0]->type) ? own->root[0]->type.dtype : TS_F32;
        ts_scan_until(by, root[own->n_root - 1]);
        ts_scan_gather(by, g_scalar(g, real, 1), false);
    }
    if (!ts_scan_end(by, out))
        return false;
    for (int i = 0; i < f->n_state; i++)
        kept[i] = t->kept[i] ? out[n_row++] : NULL;
    *on = f->until ? out[n_row] : NULL;
    return true;
}

/* What a trip hands back, unless it was not made */
static const node *chosen(graph *g, const node *on, const node *then, const node *otherwise)
{
    return on ? g_call3(g, "where", on, then, otherwise) : then;
}

/* The trips from the last one on. sum[i]: of active operand i that is no slice what it receives behind these trips,
 * then before them; dx[i]: of active slices. */
static bool turn_back(turning *t, const stretch *s, const node *const *kept, const node *on, const node **sum,
                      const node **dx)
{
    graph *g = t->g;
    const scan_form *f = &t->f;
    const int n_in = t->n->n_in, n_root = f->n_state + f->n_row;
    ts_scan *by = ts_scan_begin(g, s->trips);
    const node *from[3 * MAX_PART + 1], *to[3 * MAX_PART + 1], *state[MAX_PART] = {0}, *grad[MAX_PART], *out[MAX_PART];
    const node *asked[MAX_PART], *mask = NULL;
    int n = 0, n_asked = 0, n_out = 0;
    for (int i = 0; i < n_in; i++)
        if (t->active[i] && slice_of(t, i) < 0)
            state[i] = ts_scan_state(by, sum[i]);
    for (int i = 0; i < n_in; i++) {
        const int row = slice_of(t, i);
        from[n] = t->bound[i];
        to[n++] = row >= 0         ? ts_scan_slice(by, s->in[i], !f->slice[row])
                  : i >= f->n_state ? s->in[i]
                  : t->kept[i]      ? ts_scan_slice(by, kept[i], true)
                                    : t->bound[i];
    }
    from[n] = t->bound[n_in], to[n++] = number_of(t, s, by, true);
    for (int i = 0; i < n_root; i++) {
        from[n] = t->seed[i];
        to[n++] = i < f->n_state ? (t->active[i] ? state[i] : t->seed[i])
                  : s->row[i]    ? ts_scan_slice(by, s->row[i], !f->row[i - f->n_state])
                                 : t->seed[i];
    }
    if (on)
        mask = ts_scan_slice(by, on, true), mask = g_call2(g, "not_equal", mask, g_scalar_like(g, mask, 0));
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

/* ---- grad ---- */
static bool needs_more(const turning *t) /* than the operands */
{
    bool any = t->f.until;
    for (int i = 0; i < t->f.n_state; i++)
        any = any || t->kept[i];
    return any;
}

bool trip_gradient(graph *g, const node *n, const node *const *dy, const bool *active, const node **dx)
{
    turning t = {.g = g, .n = n, .f = scan_form_of(n), .dy = dy};
    stretch all = {.trips = t.f.trips};
    const node *kept[MAX_PART] = {0}, *on = NULL, *sum[MAX_PART] = {0};
    for (int i = 0; i < n->n_in; i++) {
        t.active[i] = active[i] && is_real(&n->in[i]->type);
        all.in[i] = n->in[i];
    }
    for (int i = t.f.n_state; i < t.f.n_state + t.f.n_row; i++)
        all.row[i] = dy[i] && is_real(&dy[i]->type) ? dy[i] : NULL;
    find_bound(&t), find_active(&t);
    if (!turn_trip(&t) || (needs_more(&t) && !keep_states(&t, &all, kept, &on)))
        return false;
    for (int i = 0; i < n->n_in; i++)
        if (t.active[i] && slice_of(&t, i) < 0)
            sum[i] = i < t.f.n_state && dy[i] ? dy[i] : g_filled(g, &n->in[i]->type, 0);
    if (!turn_back(&t, &all, kept, on, sum, dx))
        return false;
    for (int i = 0; i < n->n_in; i++)
        if (sum[i])
            dx[i] = sum[i];
    return !err_is(&g->err);
}
