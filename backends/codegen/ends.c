/* ends.c - loops of a tile end where the run does: serial ones where whole steps do, and one trip more adds only what
 * is there; rows of a result behind the last vector that has something. */
#include "backends/codegen/trips.h"
#include "schedule/plan/extents.h"

static bool clips(const emitter *m, int axis) /* it sums up the axis, which may end within */
{
    return m->tile.clipped && stage_exact(m->s) >> axis & 1;
}

static bool serial_below(const emitter *m, int axis, int l) /* in the tile, a loop over it behind loop l */
{
    for (int i = l + 1; i < nest_unrolled(m->s); i++)
        if (m->s->nest.loop[i].axis == axis)
            return true;
    return false;
}

/* In which ways the trips of the loop are made: how many ways. */
static int ways_of(const emitter *m, const strip *t, trips_way out[2])
{
    const loop *q = trips_loop(m, t);
    if (!clips(m, q->axis))
        return out[0] = EVERY_TRIP, 1;
    if (q->step == 1 || serial_below(m, q->axis, t->loop))
        return out[0] = TRIPS_LEFT, 1;
    if (t->left < q->step)
        return out[0] = LAST_TRIP, 1;
    return out[0] = WHOLE_TRIPS, out[1] = LAST_TRIP, 2;
}

static void end_within(emitter *m, strip *t, trips_way way)
{
    t->way = way;
    if (!way)
        return;
    t->from = t->from ? t->from : emit_whole(m, t->first), t->to = t->to ? t->to : emit_whole(m, t->end);
    varying_bounds(m, t->loop, way, &t->from, &t->to);
}

strip *ends_pass(emitter *m, strip *t)
{
    trips_way way[2] = {VECTORS_LEFT};
    int n = 1;
    if (!m->tile.made || t->kind != T_LOOP)
        return t;
    if (t->loop < nest_unrolled(m->s))
        n = ways_of(m, t, way);
    else if (!varying_row(m, t->loop, t->end - t->first))
        return t;
    strip *more = n > 1 ? trips_copy(m, t) : NULL;
    end_within(m, t, way[0]);
    if (more)
        end_within(m, more, way[1]), t->next = more;
    return t;
}

uint32_t ends_always(const emitter *m)
{
    uint32_t axes = 0;
    for (int a = 0; a < m->s->n_axis; a++)
        if (clips(m, a) && !serial_below(m, a, nest_tile(m->s) - 1))
            axes |= 1u << a;
    return axes;
}
