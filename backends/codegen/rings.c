/* rings.c - slices of several trips in a ring. Where a loop of the tile holds N slices of what it copies, those of the
 * next N - 1 trips are on their way while one is summed:
 *
 *   the first N - 1 slices                      each a sending
 *   for each trip: its slice has arrived        all but the last N - 2 sendings
 *                  the lanes meet               all parts of it are there, and nobody reads the slice before it
 *                  the slice N - 1 trips ahead  in that one's place
 *                  sums
 *
 * Where lanes wait for a matrix unit, the slice ahead is sent while it multiplies.
 *
 * What is a box of a tensor the device brings by itself (boxes.c): lanes wait for a barrier in place of a sending.
 *
 * What cannot be sent, or where nothing is, is taken into registers in front of the sums and put behind them. The last
 * slice may have less than a step of the axis: what is not there of it becomes zeros, which the sums leave out. */
#include "backends/codegen/rings.h"
#include "backends/codegen/trips.h"

const char *ring_name(const emitter *m, const char *what, const ring *r)
{
    return arena_format(m->mem, "%s_%d", what, r->loop);
}

const cexpr *ring_value(const emitter *m, const char *what, const ring *r)
{
    return cexpr_word(m->mem, ring_name(m, what, r));
}

static void add_sent(emitter *m)
{
    if (m->d->sent)
        emit_call(m, m->d->sent, 0, NULL);
}

static void add_arrived(emitter *m, int but) /* all but the last so many sendings */
{
    const cexpr *sendings = emit_whole(m, but);
    if (m->d->arrived)
        emit_call(m, m->d->arrived, 1, &sendings);
}

/* Where the slice in that place of the ring begins */
const cexpr *ring_place(emitter *m, const ring *r, int i, const cexpr *slot, bool written)
{
    const char *of = pointer_type(m, GROUP, source_dtype(m, r->copy[i].load), written);
    const cexpr *at = cexpr_form(
        m->mem, "($0 + $1 * $2)", 3,
        (const cexpr *const[]){emit_whole(m, r->to[i].offset), slot, emit_whole(m, r->to[i].bytes)});
    return cexpr_pointer(m->mem, of, cexpr_word(m->mem, "scratch"), at, 1);
}

/* What is sent goes to an address, all else through a pointer. */
static void name_place(emitter *m, const copying *c, const cexpr *place)
{
    const bool sent = c->how == SENT;
    code_let(&m->out.code,
             sent ? arena_format(m->mem, "const %s", m->d->natural[2])
                  : pointer_type(m, GROUP, source_dtype(m, c->load), true),
             c->into, sent ? emit_form(m, m->d->address, 1, &place) : place);
}

static void go(emitter *m, ring *r, const char *trip, trips_place *was) /* to a later trip, whose number is that */
{
    const int axis = r->next.axis;
    trips_save(m, was);
    r->next.at = affine_var(&m->sp, var_add(&m->sp, trip, 0, r->trips - 1));
    m->tile.inner[axis] = affine_add(&m->sp, r->inner, r->next.at, r->next.step);
    m->tile.plain[axis] = affine_add(&m->sp, r->plain, r->next.at, r->next.step);
}

/* Copies of a later trip, whose number is `trip`, into a place of the ring; how: instead of what each would be; when:
 * the trip is there, NULL: it is. */
static void add_copies(emitter *m, ring *r, const char *trip, const cexpr *slot, const cexpr *when, bool put)
{
    const source *sources = sources_save(m);
    trips_place was;
    go(m, r, trip, &was);
    if (boxes_any(r) && !put)
        boxes_send(m, r, slot, when);
    for (int i = 0; i < r->n; i++) {
        copying *c = &r->copy[i], own = *c;
        if (c->how == BOXED)
            continue;
        const bool taken = c->how == TAKEN;
        m->data.source[m->stage.at][c->load] = (source){.from = FROM_MEMORY, .operand = r->to[i].operand};
        if (put && !taken)
            continue;
        own.how = put ? PUT : taken && cexpr_same(slot, cexpr_word(m->mem, trip)) ? AT_ONCE : c->how;
        code_open(&m->out.code, (stmt){.kind = S_STAGE, .offset = r->to[i].offset, .bytes = r->to[i].bytes * r->slots});
        if (own.how != TAKEN) {
            own.into = arena_format(m->mem, "into%d", c->load);
            name_place(m, &own, ring_place(m, r, i, slot, true));
        }
        lanes_copy(m, &own);
        code_close(&m->out.code);
    }
    sources_back(m, sources);
    trips_leave(m, &was);
}

/* What is found out once, where the loop begins: m->here has the extents of a full trip then. */
static void choose_moving(emitter *m, ring *r)
{
    const source *sources = sources_save(m);
    trips_place was;
    go(m, r, "", &was);
    for (int i = 0; i < r->n; i++) {
        m->data.source[m->stage.at][r->copy[i].load] = (source){.from = FROM_MEMORY, .operand = r->to[i].operand};
        if (r->copy[i].how != BOXED)
            r->copy[i].how = m->d->sent && lanes_send(m, &r->copy[i]) ? SENT : TAKEN;
    }
    sources_back(m, sources);
    trips_leave(m, &was);
}

static bool any_sent(const ring *r) /* by lanes; what they take into registers counts, where nothing is boxed */
{
    bool any = !boxes_any(r);
    for (int i = 0; i < r->n; i++)
        any = any || r->copy[i].how == SENT;
    return any;
}

static const cexpr *is_next(const emitter *m, const ring *r) /* there is such a trip */
{
    return cexpr_whole(m->mem, W_LESS, ring_value(m, "coming", r), r->count ? r->count : emit_whole(m, r->trips));
}

static void first_slices(emitter *m, ring *r)
{
    const char *coming = ring_name(m, "coming", r);
    const bool all = r->trips >= r->slots - 1 && !r->count;
    emit_meet(m); /* who still reads what lay there */
    if (boxes_any(r))
        boxes_begin(m, r);
    code_let(&m->out.code, m->d->index, ring_name(m, "slot", r), emit_whole(m, 0));
    code_open(&m->out.code, (stmt){.kind = S_LOOP,
                                   .how = WRITTEN_OUT,
                                   .name = coming,
                                   .from = emit_whole(m, 0),
                                   .to = emit_whole(m, r->slots - 1),
                                   .trips = r->slots - 1});
    if (!all)
        code_if(&m->out.code, is_next(m, r));
    add_copies(m, r, coming, ring_value(m, "coming", r), NULL, false);
    if (!all)
        code_close(&m->out.code);
    if (any_sent(r))
        add_sent(m);
    code_close(&m->out.code);
}

bool ring_open(emitter *m, int l, int64_t trips, const cexpr *count, ring *r)
{
    const loop *q = &m->s->nest.loop[l];
    const int64_t left = m->here.cur[q->axis];
    *r = (ring){.loop = l, .trips = trips, .count = count};
    r->next = (later){.axis = q->axis, .step = q->step, .left = left > q->step && left % q->step ? left : 0};
    r->inner = m->tile.inner[q->axis], r->plain = m->tile.plain[q->axis];
    for (int i = 0; i < m->s->n_staging; i++) {
        const staging *g = &m->s->staging[i];
        if (!copy_follows(m, g, l))
            continue;
        r->slots = g->stages;
        r->to[r->n] = copy_place(m, m->s, g, &r->lies[r->n]);
        r->to[r->n].operand = m->data.source[m->stage.at][g->load].operand;
        r->copy[r->n] = (copying){.to = &r->to[r->n],
                                  .load = g->load,
                                  .n = r->lies[r->n].n,
                                  .order = r->lies[r->n].order,
                                  .extent = copy_filled(&r->lies[r->n]),
                                  .later = &r->next};
        r->n++;
    }
    if (!r->n)
        return false;
    m->tile.made->scratch = true;
    boxes_find(m, r);
    m->here.cur[q->axis] = q->step < left ? q->step : left;
    choose_moving(m, r);
    first_slices(m, r);
    m->here.cur[q->axis] = left;
    return true;
}

/* As the copies will be made: where that is decides how wide pieces are. */
static void declare_held(emitter *m, ring *r)
{
    trips_place was;
    go(m, r, ring_name(m, "coming", r), &was);
    for (int i = 0; i < r->n; i++)
        if (r->copy[i].how == TAKEN)
            lanes_held(m, &r->copy[i]);
    trips_leave(m, &was);
}

/* What is sent alone takes no test around it, into which compilers would move what is the same in all trips: of a trip
 * that is not there zeros come. */
static bool all_sent(const ring *r)
{
    bool all = true;
    for (int i = 0; i < r->n; i++)
        all = all && (r->copy[i].how == SENT || r->copy[i].how == BOXED);
    return all;
}

void ring_send(emitter *m)
{
    ring *r = m->tile.sends;
    if (!r)
        return;
    const int axis = r->next.axis;
    const int64_t left = m->here.cur[axis];
    const bool sent = all_sent(r);
    m->tile.sends = NULL;
    m->here.cur[axis] = r->next.step; /* a later one, which may have less */
    declare_held(m, r);
    if (!sent)
        code_if(&m->out.code, is_next(m, r));
    for (int i = 0; i < r->n; i++)
        r->copy[i].when = sent ? is_next(m, r) : NULL;
    add_copies(m, r, ring_name(m, "coming", r), ring_value(m, "next", r), sent ? is_next(m, r) : NULL, false);
    if (!sent)
        code_close(&m->out.code);
    if (any_sent(r))
        add_sent(m);
    m->here.cur[axis] = left;
}

static bool all_boxed(const ring *r)
{
    bool all = true;
    for (int i = 0; i < r->n; i++)
        all = all && r->copy[i].how == BOXED;
    return all;
}

void ring_trip(emitter *m, ring *r, const char *trip, bool last)
{
    const char *of = arena_format(m->mem, "const %s", m->d->index);
    const cexpr *slot = ring_value(m, "slot", r);
    const int axis = r->next.axis;
    r->last = last;
    if (boxes_any(r))
        boxes_wait(m, r, slot);
    if (any_sent(r))
        add_arrived(m, r->slots - 2);
    if (!all_boxed(r))
        matrix_show(m);
    emit_meet(m);
    if (!last) {
        code_let(&m->out.code, of, ring_name(m, "coming", r),
                 cexpr_plus(m->mem, cexpr_word(m->mem, trip), r->slots - 1));
        code_let(
            &m->out.code, of, ring_name(m, "next", r),
            cexpr_whole_as(m->mem, W_WHERE, "$0 ? $1 : $2", 3,
                           (const cexpr *const[]){slot, cexpr_plus(m->mem, slot, -1), emit_whole(m, r->slots - 1)}));
        m->tile.sends = r;
        const bool all = nest_group(m->s) == m->group; /* else lanes that the stage has no use for send, too */
        if (!all_sent(r) || r->loop + 1 < nest_unrolled(m->s) || !matrix_waits(m) || !all)
            ring_send(m);
    }
    for (int i = 0; i < r->n; i++) {
        source *q = &m->data.source[m->stage.at][r->copy[i].load];
        code_let(&m->out.code, pointer_type(m, GROUP, source_dtype(m, r->copy[i].load), false),
                 arena_format(m->mem, "c%d", r->copy[i].load), ring_place(m, r, i, slot, false));
        *q = r->to[i], q->base[axis] = m->tile.inner[axis];
    }
}

void ring_turn(emitter *m, ring *r)
{
    const cexpr *slot = ring_value(m, "slot", r), *last = emit_whole(m, r->slots - 1);
    const int axis = r->next.axis;
    const int64_t left = m->here.cur[axis];
    bool taken = false;
    ring_send(m);
    if (r->last)
        return;
    for (int i = 0; i < r->n; i++)
        taken = taken || r->copy[i].how == TAKEN;
    if (taken) {
        m->here.cur[axis] = r->next.step;
        code_if(&m->out.code, is_next(m, r));
        add_copies(m, r, ring_name(m, "coming", r), ring_value(m, "next", r), NULL, true);
        code_close(&m->out.code);
        m->here.cur[axis] = left;
    }
    code_store(&m->out.code, slot,
               cexpr_whole_as(m->mem, W_WHERE, "$0 ? $1 : $2", 3,
                              (const cexpr *const[]){cexpr_whole(m->mem, W_SAME, slot, last), emit_whole(m, 0),
                                                     cexpr_plus(m->mem, slot, 1)}));
}

void ring_close(emitter *m, const ring *r)
{
    if (all_sent(r) && any_sent(r))
        add_arrived(m, 0);
    if (boxes_any(r))
        boxes_end(m, r);
}

strip *rings_pass(emitter *m, strip *t)
{
    bool any = false;
    if (t->kind != T_LOOP || t->ph != BODY || !trips_even(m, t->loop))
        return t;
    for (int i = 0; i < m->s->n_staging; i++)
        any = any || copy_follows(m, &m->s->staging[i], t->loop);
    if (!any)
        return t;
    t->ring = arena_get(m->mem, sizeof *t->ring);
    strip *around = trips_wrap(m, T_RING, t);
    around->ring = t->ring;
    return around;
}
