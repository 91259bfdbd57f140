/* prefetch.c - prefetch: "+b@l2*2" at a loop asks, while one slice of b is used, for the slice of the next trip, one
 * request per cache line, spread evenly. A slice in one piece may serve several tiles and is spread over all of them;
 * one in rows that lie apart (the next rows of an operand, of the result) is fetched within one tile, long rows by
 * parts of all of them. Others are left to the hardware, which follows long rows on its own and loses short ones.
 * (Measured: without it products with cold weights lose up to a fifth, those that write 10 MB in rows of 192 bytes a
 * tenth; asking too often costs too.) */
#include "backends/codegen/emit.h"
#include "schedule/plan/extents.h"

#include <stdio.h>
#include <string.h>

enum { MOST_PIECES = 32 };

static const affine *offset_under(emitter *m, int load, const affine *const *axis)
{
    const stage *s = m->s;
    const bool result = load == RESULT;
    const expr *const *from = result ? s->store : s->load[load]->arg;
    const affine *sub[MAX_RANK];
    for (int i = 0; i < (result ? s->node->type.rank : s->load[load]->n); i++)
        sub[i] = affine_of(&m->sp, from[i], axis);
    return layout_offset(&m->sp,
                         result ? &m->p->buffer[s->node->id].layout
                                : m->data.operand[m->data.source[m->stage.at][load].operand].layout,
                         sub);
}

static bool in_one(emitter *m, const affine *at, int64_t elements, int64_t *high)
{
    int64_t low;
    affine_range(&m->sp, at, &low, high);
    return low != INT64_MIN && *high - low + 1 <= elements + elements / 8;
}

static int64_t lines_of(const emitter *m, int64_t bytes)
{
    return (bytes + m->p->on->line - 1) / m->p->on->line;
}

/* Lines of what lies under loop q->loop: in one piece, or in pieces along one axis. Adds variables. */
static bool count_lines(emitter *m, prefetch *q)
{
    const stage *s = m->s;
    const bool result = q->load == RESULT;
    const int bytes = ts_dtype_bytes(result ? stored_as(m->p, s->node) : source_dtype(m, q->load));
    const affine *axis[MAX_AXIS];
    int64_t left[MAX_AXIS], elements = 1, high, rest;
    uint32_t axes = 0;
    int apart = -1, place[MAX_AXIS];
    for (int i = 0; i < (result ? s->node->type.rank : s->load[q->load]->n); i++)
        axes |= x_axes((result ? s->store : s->load[q->load]->arg)[i]);
    for (int a = 0; a < s->n_axis; a++) {
        left[a] = q->shared ? nest_left_shared(m->k, s, a, q->loop) : nest_left(m->k, s, a, q->loop);
        place[a] = var_add(&m->sp, s->letter[a], 0, left[a] > 0 ? left[a] - 1 : 0);
        axis[a] = affine_var(&m->sp, place[a]);
        if (axes >> a & 1)
            elements *= left[a];
    }
    const affine *at = offset_under(m, q->load, axis);
    q->pieces = q->share = 1, q->lines = lines_of(m, elements * bytes);
    if (in_one(m, at, elements, &high))
        return true;
    for (int a = 0; a < s->n_axis; a++)
        if (axes >> a & 1 && left[a] > 1 && (apart < 0 || affine_coef(at, place[a]) > affine_coef(at, place[apart])))
            apart = a;
    if (apart < 0 || high == INT64_MAX)
        return false;
    const int64_t stride = affine_coef(at, place[apart]);
    axis[apart] = affine_const(&m->sp, 0), elements /= left[apart];
    q->pieces = left[apart], q->stride = stride * bytes, q->lines = lines_of(m, elements * bytes);
    q->along = q->calls > 1 && q->lines >= q->calls; /* long rows: each tile asks for a part of all of them */
    q->share = q->along ? q->pieces : (q->pieces + q->calls - 1) / q->calls;
    return q->share <= MOST_PIECES && in_one(m, offset_under(m, q->load, axis), elements, &rest) &&
           high - rest == stride * (left[apart] - 1);
}

static bool slice_lines(emitter *m, prefetch *q)
{
    const int n = m->sp.n;
    const bool counted = count_lines(m, q);
    m->sp.n = n; /* nothing that stays is in these variables, and loops around are entered many times */
    return counted;
}

/* As a tile's parameter; what a shared loop points to has the name of its stage too. */
static void name_of(const emitter *m, const prefetch *q, bool outside, char name[48])
{
    if (outside && q->shared)
        snprintf(name, 48, "prefetch_%s_%s", m->s->name, operand_called(q->load).s);
    else if (q->load == RESULT)
        snprintf(name, 48, "prefetch_y");
    else
        snprintf(name, 48, "prefetch%d", q->load);
}

static const loop *loop_of(const emitter *m, const prefetch *q)
{
    return q->shared ? &m->k->shared.loop[q->loop] : &m->s->nest.loop[q->loop];
}

static void point(emitter *m, const prefetch *q, int64_t trips)
{
    const loop *by = loop_of(m, q);
    const affine *was = m->here.axis[by->axis];
    char name[48];
    name_of(m, q, true, name);
    m->here.axis[by->axis] = affine_add(&m->sp, was, affine_const(&m->sp, by->step), trips);
    const cexpr *at = emit_pointer(m, &(tile_made){0}, q->load);
    m->here.axis[by->axis] = was;
    const char *of = arena_format(m->mem, "%sconst char *", m->d->space[ALL]);
    code_let(&m->out.code, of, name, cexpr_cast(m->mem, arena_format(m->mem, "(%s)($0)", of), at));
}

/* The loops between that of the slice and the tile, from inside out: the stage's own, then shared ones. */
static const loop *between(const emitter *m, const prefetch *q, int i, char name[24])
{
    const int own = nest_tile(m->s) - (q->shared ? 0 : q->loop + 1),
              shared = q->shared ? m->k->shared.n - q->loop - 1 : 0;
    if (i >= own + shared)
        return NULL;
    const int l = i < own ? nest_tile(m->s) - 1 - i : m->k->shared.n - 1 - (i - own);
    const nest *t = i < own ? &m->s->nest : &m->k->shared;
    loop_name(m, t, l, name);
    return &t->loop[l];
}

static bool slice_varies(const emitter *m, const prefetch *q)
{
    bool any = false;
    const bool result = q->load == RESULT;
    for (int i = 0; i < (result ? m->s->node->type.rank : m->s->load[q->load]->n); i++) {
        const uint32_t axes = x_axes((result ? m->s->store : m->s->load[q->load]->arg)[i]) & stage_varying(m->s);
        for (int a = 0; a < m->s->n_axis; a++)
            any = any || (axes >> a & 1 && (q->shared ? nest_left_shared(m->k, m->s, a, q->loop)
                                                      : nest_left(m->k, m->s, a, q->loop)) > 1);
    }
    return any;
}

/* Trips over which a slice is spread: where a run says how many there are, and not how much of the slice, those of a
 * small extent; later ones ask for what the last of these did. */
static int64_t spread_over(const emitter *m, const prefetch *q, const loop *r, int i)
{
    const bool own = i < nest_tile(m->s) - (q->shared ? 0 : q->loop + 1);
    const stage *s = own ? m->s : &m->k->stage[m->k->main];
    if (!s->varies[r->axis].by || q->varies)
        return loop_trips(r);
    return int_ceil_div(int_min(r->range, extents_small(m->p, s, r->axis)), r->step);
}

void prefetch_enter(emitter *m, bool shared, int l)
{
    for (int i = 0; i < m->s->n_staging && m->fetches.n < COUNT(m->fetches.slice); i++) {
        const staging *g = &m->s->staging[i];
        prefetch q = {
            .stage = m->stage.at, .load = g->load == MAX_LOADS ? RESULT : g->load, .loop = l, .space = g->space};
        char name[24];
        const loop *r;
        if (!m->d->fetch || g->shared != shared || g->loop != l || !g->space || g->space->copied || g->stages < 2)
            continue;
        if (q.load != RESULT && m->data.source[m->stage.at][q.load].from == FROM_RESULT)
            q.load = RESULT;
        if (q.load == RESULT ? m->s->scratch : m->data.source[m->stage.at][q.load].from != FROM_MEMORY)
            continue;
        q.shared = shared, q.calls = 1, q.varies = slice_varies(m, &q);
        for (int k = 0; (r = between(m, &q, k, name)); k++)
            q.calls *= spread_over(m, &q, r, k);
        bool twice = false; /* read where the result goes */
        for (int k = 0; k < m->fetches.n; k++)
            twice = twice || (m->fetches.slice[k].stage == q.stage && m->fetches.slice[k].load == q.load);
        if (twice || !slice_lines(m, &q))
            continue;
        m->fetches.slice[m->fetches.n++] = q;
        point(m, &q, g->stages - 1);
    }
}

void prefetch_leave(emitter *m, bool shared, int l)
{
    while (m->fetches.n && m->fetches.slice[m->fetches.n - 1].shared == shared &&
           m->fetches.slice[m->fetches.n - 1].loop == l)
        m->fetches.n--;
}

static int64_t chunk(const prefetch *q) /* lines for one tile, of each piece */
{
    return q->pieces > 1 && !q->along ? q->lines : (q->lines + q->calls - 1) / q->calls;
}

void emit_prefetch_arguments(emitter *m, arguments *a)
{
    for (int i = 0; i < m->fetches.n; i++) {
        const prefetch *q = &m->fetches.slice[i];
        char name[48], letter[24];
        const loop *r;
        int64_t scale = q->pieces > 1 && !q->along ? q->share * q->stride : chunk(q) * m->p->on->line;
        if (q->stage != m->stage.at)
            continue;
        name_of(m, q, true, name);
        const cexpr *at = cexpr_word(m->mem, name);
        for (int k = 0; (r = between(m, q, k, letter)); k++) {
            const int64_t trips = spread_over(m, q, r, k);
            const cexpr *trip = cexpr_word(m->mem, letter);
            if (trips > 1 && trips < loop_trips(r))
                trip = cexpr_least(m->mem, trip, emit_whole(m, trips - 1));
            if (trips > 1)
                at = cexpr_pointer(m->mem, "", at, cexpr_times(m->mem, trip, scale), 1);
            scale *= trips;
        }
        name_of(m, q, false, name);
        argument_add(m, a, arena_format(m->mem, "%sconst char *", m->d->space[ALL]), name, at);
    }
}

/* n terms, bytes from where it begins */
static void fetch_line(emitter *m, const prefetch *q, int64_t bytes, int n, const cexpr *const *of,
                       const int64_t *times)
{
    char name[48];
    name_of(m, q, false, name);
    const cexpr *at = cexpr_sum(m->mem, bytes, n, of, times);
    code_add(&m->out.code, (stmt){.kind = S_FETCH,
                                  .value = cexpr_pointer(m->mem, "", cexpr_word(m->mem, name), at, 1),
                                  .trips = q->space->number});
}

static void fetch_loop(emitter *m, const char *name, int64_t n)
{
    code_open(&m->out.code,
              (stmt){.kind = S_LOOP, .name = name, .from = emit_whole(m, 0), .to = emit_whole(m, n), .tight = true});
}

/* One trip's share: `trip` says which of `trips` it is. */
static void fetch(emitter *m, const prefetch *q, const cexpr *trip, int64_t trips)
{
    const int64_t lines = chunk(q), per = (lines + trips - 1) / trips, line = m->p->on->line;
    int64_t every = 1;
    if (q->pieces > 1)
        every = lines < trips ? trips / lines : 1;
    while (q->pieces == 1 && per == 1 && every * 2 * lines <= trips && every < 64)
        every *= 2;
    const bool block = every == 1 && q->share > 1 && per > 1;
    if (every > 1)
        code_open(&m->out.code,
                  (stmt){.kind = S_IF,
                         .tight = true,
                         .value = cexpr_whole(m->mem, W_SAME, cexpr_whole(m->mem, W_REST, trip, emit_whole(m, every)),
                                              emit_whole(m, 0))});
    else if (block)
        code_open(&m->out.code, (stmt){.kind = S_BLOCK});
    for (int64_t i = 0; i < per; i++) {
        const bool pieces = q->share > 1;
        if (pieces)
            fetch_loop(m, "piece", q->share);
        fetch_line(m, q, i * line, 1 + pieces,
                   (const cexpr *const[]){cexpr_floor(m->mem, trip, every, false), cexpr_word(m->mem, "piece")},
                   (const int64_t[]){per * line, q->stride});
        if (pieces)
            code_close(&m->out.code);
    }
    if (every > 1 || block)
        code_close(&m->out.code);
}

/* In a tile that folds nothing, or all at once */
static void fetch_at_once(emitter *m, const prefetch *q)
{
    const cexpr *of[2];
    int64_t times[2];
    int n = 0;
    if (q->share > 1)
        fetch_loop(m, "piece", q->share), of[n] = cexpr_word(m->mem, "piece"), times[n++] = q->stride;
    if (chunk(q) > 1)
        fetch_loop(m, "line", chunk(q)), of[n] = cexpr_word(m->mem, "line"), times[n++] = m->p->on->line;
    fetch_line(m, q, 0, n, of, times);
    for (int i = n; i > 0; i--)
        code_close(&m->out.code);
}

void emit_fetch(emitter *m)
{
    const int tile = nest_tile(m->s), inner = nest_unrolled(m->s) - 1;
    const cexpr *of[MAX_LOOP];
    int64_t times[MAX_LOOP], trips = 1;
    int n = 0;
    bool any = false;
    for (int i = 0; i < m->fetches.n; i++)
        any = any || m->fetches.slice[i].stage == m->stage.at;
    if (!any)
        return;
    m->tile.made->prefetch = true;
    for (int l = inner; l >= tile; l--) { /* which trip of the fold this is */
        const loop *r = &m->s->nest.loop[l];
        of[n] = tile_trip(m, l), times[n++] = trips;
        trips *= loop_trips(r);
    }
    const cexpr *trip = cexpr_sum(m->mem, 0, n, of, times);
    for (int i = 0; i < m->fetches.n; i++)
        if (m->fetches.slice[i].stage == m->stage.at && inner < tile)
            fetch_at_once(m, &m->fetches.slice[i]);
        else if (m->fetches.slice[i].stage == m->stage.at)
            fetch(m, &m->fetches.slice[i], trip, trips);
}
