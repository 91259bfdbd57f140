/* reach.c - from operands to results: a load at s(i) of what reaches by * k + low ... high reaches by * s(i) + ... . */
#include "autodiff/reach.h"
#include "graph/affine/linear.h"

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

static void join(asking *q, reach more)
{
    reach *r = &q->found;
    if (!more.any)
        return;
    if (!r->any) {
        *r = more;
    } else if (r->along == more.along && r->by == more.by) {
        r->low = int_min(r->low, more.low), r->high = int_max(r->high, more.high);
    } else {
        const range a = all_of(r, r->along < 0 ? 1 : q->d->extent[r->along]);
        const range b = all_of(&more, more.along < 0 ? 1 : q->d->extent[more.along]);
        *r = window(q, range_either(a, b));
    }
}

static void look(asking *q, const expr *x)
{
    for (int i = 0; i < x->n; i++)
        look(q, x->arg[i]);
    const reach *of = x->kind == X_LOAD ? &q->of[x->from->id] : NULL;
    if (of && of->any)
        join(q, of->along < 0 ? *of : moved(q, of, x->arg[of->along]));
}

static reach reach_of(asking *q, const node *y)
{
    arena mem = {0};
    defn d;
    err e = {0};
    bool any = false;
    for (int i = 0; i < y->n_in && !any; i++)
        any = q->of[y->in[i]->id].any;
    q->found = (reach){0};
    if (!any)
        return q->found;
    const bool open = g_defn(y, &mem, &d, &e) && d.value->kind != X_SCATTER && d.value->kind != X_ROUTINE;
    q->d = &d;
    if (open)
        look(q, d.value);
    const bool walked = open && d.value->kind == X_SCAN && !d.value->folds && q->found.any &&
                        q->found.along == d.value->axis; /* on all places before it */
    if (!open || walked)
        q->found = window(q, (range){0});
    return arena_free(&mem), q->found;
}

reach *reach_make(const node *out, const node *in, int axis, int64_t first, int64_t size)
{
    const int count = g_reach(1, &out, NULL);
    const node **need = calloc((size_t)count + 1, sizeof *need);
    reach *of = calloc((size_t)(in->id > out->id ? in->id : out->id) + 1, sizeof *of);
    MUST(need && of);
    asking q = {.of = of, .first = first, .size = size};
    g_reach(1, &out, need);
    of[in->id] = (reach){.any = true, .along = axis, .by = 1};
    for (int i = 0; i < count; i++)
        if (need[i] != in && !node_is_leaf(need[i]))
            of[need[i]->id] = reach_of(&q, need[i]);
    free(need);
    return of;
}
