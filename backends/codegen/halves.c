/* halves.c - along a varying axis of the result the last tile of sums may be nearly empty: where a run leaves no more
 * than half of it, or a quarter, that much is computed. */
#include "backends/codegen/trips.h"

/* Of n elements in steps; 0: one step has no half. */
static int64_t half_of(int64_t n, int64_t step)
{
    return step && n >= 2 * step ? int_ceil_div(int_ceil_div(n, step), 2) * step : 0;
}

/* Of a tile of sums, or of half of it: what half of that has of a varying axis of the result, as whole vectors; 0:
 * there is none. */
static int64_t tile_half(const emitter *m, int axis)
{
    const int tile = nest_tile(m->s);
    const int64_t all = m->here.cur[axis], whole = nest_left(m->k, m->s, axis, tile - 1);
    int64_t step = 0;
    if (!varying_axis(m, axis) || !m->stage.fold || !stage_contracts(m->s) || m->group > 1)
        return 0;
    for (int l = tile; l < m->s->nest.n; l++) {
        const loop *q = &m->s->nest.loop[l];
        if (q->axis == axis && (!q->role->in_registers || q->step > 1))
            return 0;
        if (q->axis == axis)
            step = q->role->lanes ? nest_lanes(m->p, m->s) : 1;
    }
    return all == whole || all == half_of(whole, step) ? half_of(all, step) : 0;
}

strip *halves_pass(emitter *m, strip *t)
{
    int64_t half = 0;
    if (t->kind != T_TILE)
        return t;
    while (t->loop < m->s->n_result && !(half = tile_half(m, t->loop)))
        t->loop++;
    if (!half)
        return t;
    strip *more = trips_copy(m, t), *rest = trips_copy(m, t);
    more->loop++;
    return trips_two_ways(m, more, rest, t->loop, half);
}
