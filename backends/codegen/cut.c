/* cut.c - trips of a loop with other constants are written apart: one that has less than a step. */
#include "backends/codegen/trips.h"

static int64_t elements(const emitter *m, const strip *t) /* of the axis, that are left for the loop */
{
    const int axis = trips_loop(m, t)->axis;
    if (m->tile.made && t->ph == CLEAR && (trips_folds(m, t) || matrix_sums(m))) /* all lanes, clipped trips too */
        return nest_left(m->k, m->s, axis, t->loop - 1);
    return (t->shared ? &m->shared : &m->here)->cur[axis];
}

strip *cut_pass(emitter *m, strip *t)
{
    if (t->kind != T_LOOP)
        return t;
    const int64_t step = trips_loop(m, t)->step, left = elements(m, t), full = left / step, rest = left % step;
    t->all = full + !!rest;
    strip *last = rest ? trips_copy(m, t) : NULL;
    if (last)
        last->first = full, last->end = full + 1, last->left = rest, last->rest = true;
    t->end = full, t->left = step, t->next = last;
    return full ? t : last;
}
