/* ahead.c - prefetch: "+b@l2*2" at a loop asks, while one slice of b is used, for the slice of the next trip, one
 * request per cache line, spread evenly over the tiles. It is done for slices that lie in one piece; others are left to
 * the hardware. (Measured elsewhere and here: without it products with cold weights lose up to a fifth; asking too
 * often costs too.) */
#include "backends/c/emit.h"

#include <stdio.h>
#include <string.h>

enum { LINE = 64 };

/* Bytes from the first to the last element of what lies under loop l, and how many it has; in one piece
 * when they agree. */
static bool slice_lines(emitter *m, int load, int l, int64_t *lines)
{
    const stage *s = m->s;
    const expr *x = s->load[load];
    space sp = {.mem = m->mem};
    const lin *axis[MAX_AXIS], *sub[MAX_RANK];
    int64_t elements = 1, low, high;
    uint32_t axes = 0;
    for (int i = 0; i < x->n; i++)
        axes |= x_axes(x->arg[i]);
    for (int a = 0; a < s->n_axis; a++) {
        const int64_t left = nest_left(m->k, s, a, l);
        axis[a] = lin_var(&sp, var_add(&sp, s->letter[a], 0, left > 0 ? left - 1 : 0));
        if (axes >> a & 1)
            elements *= left;
    }
    for (int i = 0; i < x->n; i++)
        sub[i] = lin_of(&sp, x->arg[i], axis);
    const lin *at = layout_offset(&sp, m->operand[m->source[m->at][load].operand].layout, sub);
    lin_range(&sp, at, &low, &high);
    if (low == INT64_MIN || high - low + 1 > elements + elements / 8)
        return false;
    *lines = (elements * ts_dtype_bytes(source_dtype(m, load)) + LINE - 1) / LINE;
    return true;
}

void ahead_enter(emitter *m, int l)
{
    for (int i = 0; i < m->s->n_staging; i++) {
        const staging *g = &m->s->staging[i];
        int64_t lines, calls = 1;
        if (g->shared || g->loop != l || !g->level || g->stages < 2 || m->ahead.lines)
            continue;
        if (m->source[m->at][g->load].from != FROM_MEMORY || !slice_lines(m, g->load, l, &lines))
            continue;
        for (int k = l + 1; k < nest_tile(m->s); k++)
            calls *= loop_trips(&m->s->nest.loop[k]);
        m->ahead.load = g->load, m->ahead.loop = l, m->ahead.level = g->level, m->ahead.lines = lines,
        m->ahead.calls = calls;
        const int a = m->s->nest.loop[l].axis;
        const lin *was = m->axis[a];
        text line = {0};
        m->axis[a] = lin_add(&m->sp, was, lin_const(&m->sp, m->s->nest.loop[l].step), g->stages - 1);
        emit_pointer(m, &line, &(tile_made){0}, g->load);
        m->axis[a] = was;
        text_line(&m->body, "const char *ahead = (const char *)(%s);", line.s);
        text_free(&line);
    }
}

void ahead_leave(emitter *m, int l)
{
    if (m->ahead.lines && m->ahead.loop == l)
        m->ahead.lines = 0;
}

static int64_t chunk(const emitter *m) /* lines for one tile */
{
    return (m->ahead.lines + m->ahead.calls - 1) / m->ahead.calls;
}

void emit_ahead(emitter *m, text *t)
{
    const int tile = nest_tile(m->s);
    text_add(t, "ahead");
    int64_t scale = chunk(m) * LINE;
    for (int l = tile - 1; l > m->ahead.loop; l--) {
        const loop *q = &m->s->nest.loop[l];
        if (loop_trips(q) > 1)
            text_add(t, " + %lld * %s_%d", (long long)scale, m->s->letter[q->axis], l);
        scale *= loop_trips(q);
    }
}

void emit_fetch(emitter *m)
{
    const int tile = nest_tile(m->s), inner = nest_unrolled(m->s) - 1;
    int64_t trips = 1, every = 1;
    if (!m->ahead.lines || inner < tile)
        return;
    const loop *q = &m->s->nest.loop[inner];
    for (int l = tile; l <= inner; l++)
        trips *= loop_trips(&m->s->nest.loop[l]);
    const int64_t per = (chunk(m) + trips - 1) / trips;
    while (per == 1 && every * 2 * chunk(m) <= trips && every < 64)
        every *= 2;
    char at[200] = "", name[24];
    int64_t scale = 1;
    for (int l = inner; l >= tile; l--) { /* which trip of the fold this is */
        const loop *r = &m->s->nest.loop[l];
        snprintf(name, sizeof name, "%s_%d", m->s->letter[r->axis], l);
        const size_t n = strlen(at);
        snprintf(at + n, sizeof at - n, "%s%lld * %s", n ? " + " : "", (long long)scale, name);
        scale *= loop_trips(r);
    }
    m->into->ahead = true;
    if (every > 1)
        text_line(&m->body, "if (%s_%d %% %lld == 0)", m->s->letter[q->axis], inner, (long long)every);
    for (int64_t i = 0; i < per; i++)
        text_line(&m->body, "%sPREFETCH(ahead + (%s) %s %lld%s, %d);", every > 1 ? "    " : "", at,
                  every > 1 ? "/" : "*", (long long)(every > 1 ? every : per * LINE),
                  every > 1 ? " * 64"
                  : i       ? " + 64"
                            : "",
                  m->ahead.level);
}
