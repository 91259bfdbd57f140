/* cut.c - trips of a loop with other constants are written apart: one that has less than a step, and around tiles those
 * at borders. */
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

strip *trips_apart(emitter *m, strip *t, int64_t at)
{
    strip *more = trips_copy(m, t);
    more->first = t->end = at, more->next = t->next;
    return t->next = more;
}

enum { BORDER = 3 }; /* trips, at most, which are written apart at either end */

strip *borders_pass(emitter *m, strip *t)
{
    if (m->tile.made || t->kind != T_LOOP || t->shared || t->end - t->first < 2 ||
        !(m->stage.peeled >> trips_loop(m, t)->axis & 1) || !trips_loop(m, t)->role->serial)
        return t;
    const int64_t end = t->end;
    int64_t first = 1, last = end - 1;
    while (first < BORDER && first < last && bounds_touch(m, t, first, true))
        first++;
    while (end - last < BORDER && first < last - 1 && bounds_touch(m, t, last - 1, false))
        last--;
    strip *rest = t;
    for (int64_t i = 1; i < end; i = i == first && first < last ? last : i + 1)
        rest = trips_apart(m, rest, i);
    return t;
}
