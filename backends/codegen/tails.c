/* tails.c - the vector that has fewer elements than others, and loops over vectors that end where there are none. */
#include "backends/codegen/trips.h"

/* Ends them where a mask, or what a run has, leaves some of `trips` elements. The last of them may go beyond: nobody
 * reads that. */
static void end_vectors(emitter *m, strip *t, int64_t trips)
{
    const int l = nest_last(m->s), n = m->tile.vectors.n;
    const cexpr *from = emit_whole(m, 0), *to = NULL;
    if (t->ph != CLEAR && mask_bounds(m, l))
        m->tile.made->masked = true, to = mask_end(m, l, trips);
    else if (t->ph == FINISH && varying_row(m, l, trips)) {
        to = emit_whole(m, trips);
        varying_bounds(m, l, VECTORS_LEFT, &from, &to);
    }
    if (to)
        t->from = emit_whole(m, t->first), t->to = cexpr_floor(m->mem, cexpr_plus(m->mem, to, n - 1), n, false);
}

strip *tails_pass(emitter *m, strip *t)
{
    const int n = m->tile.vectors.n;
    if (t->kind != T_VECTORS)
        return t;
    strip *one = trips_node(m, (strip){.kind = T_PHASE, .ph = t->ph});
    if (trips_folds(m, t) && t->ph != CLEAR && t->ph != BODY)
        return t->ph == MERGE ? one : trips_wrap(m, T_FIRST, one);
    const int64_t trips = vectors_trips(m, t->ph), full = trips / n, rest = t->ph == CLEAR ? 0 : trips % n;
    t->in = one, t->first = 0, t->end = full, t->left = n;
    if (t->ph == CLEAR) /* all of each */
        t->end = int_ceil_div(trips, n);
    end_vectors(m, t, trips);
    strip *last = rest ? trips_copy(m, t) : NULL;
    if (!last)
        return t;
    last->first = full, last->end = full + 1, last->left = rest;
    last->from = last->to ? emit_whole(m, full) : NULL;
    if (t->to)
        t->to = cexpr_least(m->mem, emit_whole(m, full), t->to);
    t->next = last;
    return full ? t : last;
}
