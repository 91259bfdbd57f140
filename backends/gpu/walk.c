/* walk.c - picks of trips, and where axes stand in them. */
#include "backends/gpu/walk.h"
#include "schedule/nest/fit.h"

#include <string.h>

/* All are looked at where they are no more than ALL, else SOME: their mean is within some hundredths of that of all. */
enum { ALL = 2048, SOME = 1024 };

void walk_begin(walk *w)
{
    w->all = 1;
    for (int i = 0; i < w->n; i++)
        w->all *= (double)w->trips[i];
    w->few = w->all <= ALL ? (int64_t)w->all : SOME;
}

static double spread(uint64_t i) /* of [0, 1), without any order */
{
    return (double)(random_bits(0, i) >> 11) * 0x1p-53;
}

/* All in their order; else one of each of `few` stretches of these, the first trip of all among them. A fraction has
 * numbers for some loops alone: those within take another one. */
void walk_pick(const walk *w, int64_t i, int64_t number[MAX_WALKED])
{
    enum { DIGITS = 1 << 30 };
    if (w->all <= (double)w->few) {
        for (int l = w->n; l-- > 0;)
            number[l] = i % w->trips[l], i /= w->trips[l];
        return;
    }
    double part = i ? ((double)i + spread((uint64_t)i)) / (double)w->few : 0, taken = 1;
    for (int l = 0; l < w->n; l++) {
        if (taken > DIGITS)
            part = i ? spread((uint64_t)i * MAX_WALKED + (uint64_t)l) : 0, taken = 1;
        part *= (double)w->trips[l], taken *= (double)w->trips[l];
        number[l] = int_min((int64_t)part, w->trips[l] - 1), part -= (double)number[l];
    }
}

void stand_begin(stand_at *w)
{
    for (int d = 1; d <= w->upto; d++) {
        const loop *q = fit_loop(w->k, w->s, d);
        w->loop[d] = d <= w->k->shared.n && q->axis >= w->s->n_shared ? NULL : q;
    }
}

bool walk_stand(const stand_at *w, const int64_t trip[MAX_DEPTH], standing *out)
{
    const stage *s = w->s;
    int lanes = 0;
    memset(out->at, 0, (size_t)s->n_axis * sizeof *out->at), memset(out->own, 0, (size_t)s->n_axis * sizeof *out->own);
    memcpy(out->left, s->extent, (size_t)s->n_axis * sizeof *out->left);
    out->run = 1, out->rest = 0, out->full = true;
    for (int d = 1; d <= w->upto; d++) {
        const loop *q = w->loop[d];
        if (!q)
            continue;
        const int64_t gone = trip[d] * q->step;
        int64_t *left = &out->left[q->axis];
        if (d == w->run)
            out->run = *left;
        if (gone >= *left)
            return false;
        out->full = out->full && *left - gone >= q->step && (!q->role->group || loop_trips(q) * q->step <= *left);
        if (q->role->group)
            out->rest |= (uint32_t)(*left - gone < q->step) << lanes++;
        *left = int_min(*left - gone, q->step);
        out->at[q->axis] += gone, out->own[q->axis] += d > w->from ? gone : 0;
    }
    return true;
}
