/* trips.c - how often loops are walked. */
#include "backends/gpu/figuring.h"

bool trips_dealt(const loop *q)
{
    return q->role->parallel;
}

double trips_shared(const kernel *k, int upto)
{
    double n = 1;
    for (int l = 0; l < upto && k->n_stage > 1; l++)
        n *= trips_dealt(&k->shared.loop[l]) ? 1 : (double)loop_trips(&k->shared.loop[l]);
    return n;
}

static bool is_walked(const loop *q)
{
    return !q->role->in_registers && !trips_dealt(q);
}

static double trips_masked(const kernel *k, const stage *s, int upto)
{
    bool any = false;
    for (int l = 0; k->mask && l < upto; l++)
        any = any || (is_walked(&s->nest.loop[l]) && k->mask->along[s - k->stage] == s->nest.loop[l].axis);
    return any ? k->mask->share : 1;
}

double trips_own(const kernel *k, const stage *s, int upto)
{
    double n = 1;
    for (int l = 0; l < upto; l++) {
        const loop *q = &s->nest.loop[l], *last = NULL;
        bool first = true;
        for (int i = 0; i < upto; i++) {
            const loop *r = &s->nest.loop[i];
            if (r->axis != q->axis || !is_walked(r))
                continue;
            first = first && i >= l, last = r;
        }
        if (last && first && is_walked(q))
            n *= (double)int_ceil_div(nest_left(k, s, q->axis, l - 1), last->step);
    }
    return n * trips_masked(k, s, upto);
}

static int trips_last(const stage *s, uint32_t axes)
{
    int last = nest_unrolled(s);
    while (last > 0 && !(axes >> s->nest.loop[last - 1].axis & 1))
        last--;
    return last;
}

double trips_of_value(const kernel *k, const stage *s, uint32_t axes)
{
    double each = 1;
    for (int l = nest_unrolled(s); l < s->nest.n; l++) {
        const loop *q = &s->nest.loop[l];
        if (!q->role->group && !q->role->unit && !q->role->lanes && axes >> q->axis & 1)
            each *= (double)loop_trips(q);
    }
    return trips_shared(k, k->shared.n) * trips_own(k, s, trips_last(s, axes)) * each;
}
