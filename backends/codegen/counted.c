/* counted.c - what loops outside clip makes fewer trips of a loop of the tile, in whole trips of it: that is the same
 * tile, told how many. */
#include "backends/codegen/trips.h"

const loop *counted_loop(const emitter *m, int a)
{
    for (int l = nest_tile(m->s); l < m->s->nest.n; l++)
        if (m->s->nest.loop[l].axis == a)
            return m->s->nest.loop[l].role->serial && !mask_bounds(m, l) ? &m->s->nest.loop[l] : NULL;
    return NULL;
}

uint32_t counted_axes(const emitter *m)
{
    uint32_t axes = 0;
    for (int l = 0; l < nest_tile(m->s); l++) {
        const loop *q = &m->s->nest.loop[l], *in = counted_loop(m, q->axis);
        const int64_t rest = nest_left(m->k, m->s, q->axis, l - 1) % q->step;
        if (m->s->folds >> q->axis & 1 && in && rest && rest % in->step == 0 && q->step % in->step == 0 &&
            !varying_axis(m, q->axis))
            axes |= 1u << q->axis;
    }
    for (int i = 0; i < m->bounds.n; i++)
        axes &= ~(m->bounds.split[i].place ? x_axes(m->bounds.split[i].place) : 0);
    for (int a = 0; a < m->s->n_axis; a++)
        if (axes >> a & 1 && m->here.cur[a] % counted_loop(m, a)->step)
            axes &= ~(1u << a);
    return axes;
}

const cexpr *counted_trips(const emitter *m, int l)
{
    const loop *q = &m->s->nest.loop[l];
    return m->tile.made->counted >> q->axis & 1 && q == counted_loop(m, q->axis)
               ? cexpr_word(m->mem, arena_format(m->mem, "%s_trips", m->s->letter[q->axis]))
               : NULL;
}

strip *counted_pass(emitter *m, strip *t)
{
    const cexpr *count = t->kind == T_LOOP ? counted_trips(m, t->loop) : NULL;
    if (count)
        t->from = emit_whole(m, 0), t->to = count;
    return t;
}
