/* reach.c - from operands to results: a load at s(i) of what reaches by * k + low ... high reaches by * s(i) + ... . */
#include "autodiff/reach.h"
#include "graph/affine/linear.h"
#include "graph/ir/custom.h"
#include "graph/ir/trip.h"

#include <stdlib.h>

typedef struct asking {
    const reach *of;     /* by id */
    int64_t first, size; /* places of the input that count */
    const defn *d;       /* of the node that is asked about */
    reach found;
} asking;

int64_t reach_width(const reach *r)
{
    return r->high - r->low + 1;
}

static range all_of(const reach *r, int64_t extent)
{
    const range steps = range_times(range_of(0, r->along < 0 ? 0 : extent - 1), r->by);
    return range_sum(steps, range_of(r->low, r->high));
}

/* A window; what is not known is all places that count. */
static reach window(const asking *q, range r)
{
    const int64_t end = q->first + q->size - 1;
    if (!r.known)
        r = range_of(q->first, end);
    r = range_of(int_max(r.low, q->first), int_min(r.high, end));
    return (reach){.any = r.low <= r.high, .along = -1, .low = r.low, .high = r.high};
}

/* The place along which a subscript moves, with the axis of the node that moves it most; the rest of it is a range. */
static reach moved(const asking *q, const reach *of, const expr *s)
{
    const defn *d = q->d;
    const int rank = d->node->type.rank;
    linear l;
    int best = -1;
    s = x_tidy(d->mem, s, d->extent);
    const bool plain = linear_of(s, &l);
    for (int i = 0; plain && i < l.n; i++) {
        const expr *a = l.atom[i];
        if (a->kind == X_AXIS && a->axis < rank && d->extent[a->axis] > 1 &&
            (best < 0 || llabs(l.by[i]) > llabs(l.by[best])))
            best = i;
    }
    for (int i = 0; best >= 0 && i < l.n; i++)
        if (i != best && x_axes(l.atom[i]) >> l.atom[best]->axis & 1)
            return window(q, range_sum(range_times(x_range(s, d->extent), of->by), range_of(of->low, of->high)));
    range rest = range_of(plain ? l.plus : 0, plain ? l.plus : 0);
    for (int i = 0; best >= 0 && i < l.n; i++)
        if (i != best)
            rest = range_sum(rest, range_times(x_range(l.atom[i], d->extent), l.by[i]));
    if (best < 0)
        rest = x_range(s, d->extent);
    rest = range_sum(range_times(rest, of->by), range_of(of->low, of->high));
    int64_t by;
    if (best < 0 || !rest.known || !int_mul(of->by, l.by[best], &by))
        return window(q, rest);
    const reach r = {true, l.atom[best]->axis, by, rest.low, rest.high};
    const range all = all_of(&r, d->extent[r.along]);
    return all.known && all.high >= q->first && all.low < q->first + q->size ? r : window(q, all);
}

static void join(const asking *q, const type *t, reach *r, reach more)
{
    if (!more.any)
        return;
    if (!r->any) {
        *r = more;
    } else if (r->along == more.along && r->by == more.by) {
        r->low = int_min(r->low, more.low), r->high = int_max(r->high, more.high);
    } else {
        const range a = all_of(r, r->along < 0 ? 1 : t->dim[r->along]);
        const range b = all_of(&more, more.along < 0 ? 1 : t->dim[more.along]);
        *r = window(q, range_either(a, b));
    }
}

static void look(asking *q, const expr *x)
{
    for (int i = 0; i < x->n; i++)
        look(q, x->arg[i]);
    const reach *of = x->kind == X_LOAD ? &q->of[x->from->id] : NULL;
    if (of && of->any)
        join(q, &q->d->node->type, &q->found, of->along < 0 ? *of : moved(q, of, x->arg[of->along]));
}

/* Of points that go to the places that they have along an axis of the result, the element there gets no others. */
static void look_scatter(asking *q, const expr *x, arena *mem)
{
    const expr *axis[MAX_AXIS] = {NULL};
    for (int i = 0; i + 2 < x->n; i++) {
        const expr *at = x_tidy(mem, x->arg[2 + i], q->d->extent);
        linear l;
        const bool same = linear_of(at, &l) && l.n == 1 && l.by[0] == 1 && !l.plus && l.atom[0]->kind == X_AXIS;
        if (same && x->folds >> l.atom[0]->axis & 1 && !axis[l.atom[0]->axis])
            axis[l.atom[0]->axis] = x_axis(mem, i);
    }
    look(q, x->arg[0]);
    look(q, x_rename(mem, x->arg[1], MAX_AXIS, axis));
}

static reach reach_of_defn(asking *q, const node *y)
{
    ENDED_BY(arena_free) arena mem = {0};
    defn d;
    const bool open = g_defn(y, &mem, &d, NULL) && d.value->kind != X_ROUTINE;
    q->d = &d, q->found = (reach){0};
    if (open && d.value->kind == X_SCATTER)
        look_scatter(q, d.value, &mem);
    else if (open)
        look(q, d.value);
    const bool walked = open && d.value->kind == X_SCAN && !d.value->folds && q->found.any &&
                        q->found.along == d.value->axis; /* on all places before it */
    if (!open || walked)
        q->found = window(q, (range){0});
    return q->found;
}

/* ---- scans ---- */
typedef struct walk {
    const node *scan;
    scan_form f;
    int n;
    const node **need; /* of its trip, by id */
    reach *of;         /* by id, within the trip */
    reach *state;      /* before any trip */
} walk;

static reach reach_of(asking *q, const node *y);

/* What stands for operand k in any trip */
static reach at_hand(const asking *q, const walk *w, int64_t k)
{
    if (k < w->f.n_state || k >= w->scan->n_in)
        return k < w->f.n_state ? w->state[k] : (reach){0};
    reach r = q->of[w->scan->in[k]->id];
    if (!r.any || k >= w->f.n_state + w->f.n_slice || r.along < 0)
        return r;
    if (!r.along)
        return window(q, all_of(&r, w->f.trips));
    return r.along--, r;
}

static bool reach_same(const reach *a, const reach *b)
{
    return a->any == b->any &&
           (!a->any || (a->along == b->along && a->by == b->by && a->low == b->low && a->high == b->high));
}

/* One trip; whether a state then reaches further than before. */
static bool walk_once(const asking *q, walk *w)
{
    bool more = false;
    asking inner = {.of = w->of, .first = q->first, .size = q->size};
    for (int i = 0; i < w->n; i++) {
        const node *n = w->need[i];
        if (node_is_leaf(n))
            w->of[n->id] = n->leaf->bound ? at_hand(q, w, trip_operand(n)) : (reach){0};
        else
            w->of[n->id] = reach_of(&inner, n);
    }
    for (int k = 0; k < w->f.n_state; k++) {
        const reach was = w->state[k];
        const node *to = w->scan->trip->root[k];
        join(q, &to->type, &w->state[k], w->of[to->id]);
        more = more || !reach_same(&was, &w->state[k]);
    }
    return more;
}

enum { WIDER = 3 }; /* trips after which what still grows is taken to reach all */

static reach reach_of_scan(const asking *q, const node *scan, int index)
{
    const scan_trip *t = scan->trip;
    int last = 0;
    for (int i = 0; i < t->n_root; i++)
        last = t->root[i]->id > last ? t->root[i]->id : last;
    walk w = {.scan = scan, .f = scan_form_of(scan)};
    w.need = g_reached_make(t->n_root, t->root, &w.n), w.of = heap_array((size_t)last + 1, sizeof *w.of);
    w.state = heap_array((size_t)w.f.n_state + 1, sizeof *w.state);
    for (int k = 0; k < w.f.n_state; k++)
        w.state[k] = q->of[scan->in[k]->id];
    for (int round = 1; walk_once(q, &w); round++)
        for (int k = 0; round > WIDER && k < w.f.n_state; k++)
            if (w.state[k].any)
                w.state[k] = window(q, (range){0});
    reach r = index < w.f.n_state ? w.state[index] : w.of[t->root[index]->id];
    if (index >= w.f.n_state && r.any && r.along >= 0)
        r.along++; /* behind the axis of trips */
    free(w.need), free(w.of), free(w.state);
    return r;
}

/* What are no reals have no derivative, however they are computed; but outputs of several dtypes lie in bytes. */
static reach reach_of(asking *q, const node *y)
{
    int index = 0;
    bool any = false;
    const node *call = custom_call(y, &index);
    const node *scan = call && call->trip ? call : y->trip && !y->output ? y : NULL;
    for (int i = 0; i < (scan ? scan : y)->n_in && !any; i++)
        any = q->of[(scan ? scan : y)->in[i]->id].any;
    if (!any || (!y->output && dtype_class(y->type.dtype) != D_REAL))
        return (reach){0};
    return scan ? reach_of_scan(q, scan, index) : reach_of_defn(q, y);
}

reach *reach_make(const node *out, const node *in, int axis, int64_t first, int64_t size)
{
    int count;
    ENDED_BY(heap_free) const node **need = g_reached_make(1, &out, &count);
    reach *of = heap_array((size_t)(in->id > out->id ? in->id : out->id) + 1, sizeof *of);
    asking q = {.of = of, .first = first, .size = size};
    of[in->id] = (reach){.any = true, .along = axis, .by = 1};
    for (int i = 0; i < count; i++)
        if (need[i] != in && !node_is_leaf(need[i]))
            of[need[i]->id] = reach_of(&q, need[i]);
    return of;
}
