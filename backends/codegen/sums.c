/* sums.c - tiles whose sums the run may end are there twice: for calls that have all of their elements, as if the
 * extent were a constant, and for those that ask what there is. */
#include "backends/codegen/trips.h"
#include "schedule/plan/extents.h"

strip *sums_pass(emitter *m, strip *t)
{
    const uint32_t axes = stage_exact(m->s);
    bool asked = true; /* a tile that has all of some axis is never whole for certain */
    if (t->kind != T_TILE || t->way || !axes)
        return t;
    for (int a = 0; a < m->s->n_axis; a++)
        asked = asked && !(axes >> a & 1 && m->here.cur[a] == m->s->extent[a]);
    strip *whole = asked ? trips_copy(m, t) : NULL;
    t->way = TRIPS_LEFT;
    if (!whole)
        return t;
    whole->way = WHOLE_TRIPS;
    return trips_two_ways(m, whole, t, -1, 0);
}
