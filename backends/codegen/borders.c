/* borders.c - loops around tiles write those at borders apart, where padding depends on them. */
#include "backends/codegen/trips.h"

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
