/* role.c - how the trips of a loop of a role are written. */
#include "backends/codegen/trips.h"

bool role_unrolled(const role *r)
{
    return r->in_registers && !r->lanes && !r->group;
}

int tile_rows(const emitter *m)
{
    int l = nest_unrolled(m->s);
    while (l < m->s->nest.n - 1 && m->s->folds >> m->s->nest.loop[l].axis & 1)
        l++;
    return l;
}

static opening opening_of(const emitter *m, const strip *t)
{
    const role *r = trips_loop(m, t)->role;
    if (t->kind == T_VECTORS)
        return t->to ? AS_IT_IS : WRITTEN_OUT;
    if (r->serial && matrix_sums(m))
        return WRITTEN_OUT;
    if (role_unrolled(r))
        return m->tile.sums && t->loop == tile_rows(m) ? AS_IT_IS : WRITTEN_OUT;
    if (!r->lanes || t->ph == MERGE)
        return AS_IT_IS;
    return m->stage.fold && m->d->lanes_written_out ? WRITTEN_OUT : IN_LANES;
}

/* Without sums nothing stays in registers from trip to trip. */
static int64_t together(const emitter *m, const strip *t)
{
    enum { VECTORS = 4 };
    const int64_t trips = t->end - t->first, most = t->kind == T_VECTORS ? VECTORS : m->d->unroll_most;
    if (t->kind == T_LOOP && trips_loop(m, t)->role->serial && matrix_sums(m))
        return 1; /* as far as the nest says */
    return m->stage.fold || !most ? trips : int_min(trips, most);
}

strip *unroll_pass(emitter *m, strip *t)
{
    if (t->kind == T_LOOP || t->kind == T_VECTORS)
        t->how = opening_of(m, t), t->together = together(m, t);
    return t;
}
