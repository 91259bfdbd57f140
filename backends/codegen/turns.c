/* turns.c - tiles of which an operand, or the result, has its neighbours along another loop in registers than that over
 * vectors: these are n vectors along that loop, of which elements are exchanged in registers, and no element is moved
 * by itself.
 *
 *     f32x8 t0[8] = {0};
 *     for (turn ...) t0[turn] = f32x8_load(&x0[3136 * turn]);
 *     f32x8_turn(t0);
 *     for (d3_3 ...) f32x8_store(&y[8 * d3_3], t0[d3_3]); */
#include "backends/codegen/trips.h"
#include "backends/codegen/vectors.h"

enum { MOST = 16 }; /* elements of a vector: of more, the text is long and registers are too few */

/* ---- which loop it is ---- */
/* The innermost loop over another axis of the result, if it walks that by ones, in trips worth a vector; -1: there is
 * none. */
static int turn_loop(const emitter *m)
{
    const vector_loop *v = &m->tile.vectors;
    const stage *s = m->s;
    int l = nest_last(s) - 1;
    while (l >= nest_unrolled(s) && s->nest.loop[l].axis == v->axis)
        l--;
    if (l < nest_unrolled(s) || nest_last(s) != s->nest.n - 1 || s->folds >> v->axis & 1)
        return -1;
    const loop *q = &s->nest.loop[l];
    bool alone = q->step == 1 && !(s->folds >> q->axis & 1) && role_unrolled(q->role) && !q->role->lanes;
    for (int i = nest_unrolled(s); i < s->nest.n; i++)
        alone = alone && (i == l || s->nest.loop[i].axis != q->axis);
    return alone && m->here.cur[q->axis] >= v->n / 2 ? l : -1;
}

static bool lies_along(emitter *m, int load)
{
    const vector_loop *v = &m->tile.vectors;
    const int l = turn_loop(m), other = l < 0 ? -1 : m->s->nest.loop[l].axis;
    const int64_t trips = l < 0 ? 0 : int_min(m->here.cur[other], v->n);
    return trips && m->s->nest.loop[nest_last(m->s)].range <= v->n && !vector_runs(m, load, v->axis, v->count) &&
           vector_runs(m, load, other, (int)trips);
}

/* Rather than one by one; what is the same for a whole vector is no vector */
static bool turns(emitter *m, int load)
{
    const dtype d = load == RESULT ? stored_as(m->p, m->s->node) : source_dtype(m, load);
    const bool varies = load == RESULT || x_axes_of(m->s->load[load]) >> m->tile.vectors.axis & 1;
    element e;
    return varies && m->tile.vectors.n <= MOST && vector_kind(m, d, &e) &&
           callees_have(m->d, "turn", 4, (instance){e, m->tile.vectors.n}) && lies_along(m, load);
}

void turn_expect(emitter *m)
{
    m->tile.turned = (turned_access){0};
    for (int i = 0; i < m->s->n_load; i++)
        m->tile.turned.of[i] = turns(m, i);
    m->tile.turned.of[RESULT] = turns(m, RESULT);
}

/* ---- the pass ---- */
static bool plain(const strip *t) /* all of its trips are done, whatever the run says */
{
    return t->kind == T_LOOP && !t->from && !t->to && !t->count && !t->masked && t->way == EVERY_TRIP && t->left == 1;
}

static bool stores(const emitter *m, tile_phase ph)
{
    return ph == FINISH && !m->tile.step && !m->stage.outer_fold && !m->s->n_piece && !m->stage.carries &&
           !mask_bounds(m, nest_last(m->s)) && !varying_row(m, nest_last(m->s), m->s->nest.loop[nest_last(m->s)].range);
}

static const expr *computed(emitter *m, tile_phase ph) /* in a trip; NULL: states, of which there may be several */
{
    return tuple_fold(m) || m->stage.carries ? NULL : ph == BODY ? m->tile.term : partial_value(m);
}

/* What turn_open takes of the loop's trips; whether there is any */
static bool find(emitter *m, tile_phase ph, turned_access *out)
{
    const expr *x = ph == BODY || ph == FINISH ? computed(m, ph) : NULL;
    bool any = false;
    *out = (turned_access){0};
    for (int i = 0; x && i < m->s->n_load; i++)
        any |= out->of[i] = vector_reads(x, m->s->load[i]) && turns(m, i);
    any |= out->of[RESULT] = x && stores(m, ph) && turns(m, RESULT);
    return any;
}

/* Moves the loop inside the loops within it: trips over result axes may run in any order. */
static strip *exchange(emitter *m, const strip *t)
{
    for (strip *in = t->in; in; in = in->next) {
        strip *inner = in->in;
        in->in = trips_wrap(m, T_LOOP, inner);
        *in->in = *t, in->in->in = inner, in->in->next = NULL;
    }
    return t->in;
}

strip *turns_pass(emitter *m, strip *t)
{
    const vector_loop *v = &m->tile.vectors;
    turned_access all;
    if (!v->n || !plain(t) || t->loop != turn_loop(m) || !find(m, t->ph, &all))
        return t;
    if (t->in->kind == T_LOOP)
        return exchange(m, t);
    return trips_wrap(m, T_TURN, t);
}

/* ---- around the loop ---- */
static const cexpr *name_of(const emitter *m, int load, const cexpr *i)
{
    return cexpr_element(m->mem, load == RESULT ? "ty" : arena_format(m->mem, "t%d", load), i, IN_REGISTERS);
}

static void declare(emitter *m, int load, element e)
{
    const char *name = cexpr_text(m->mem, name_of(m, load, cexpr_number(m->mem, m->tile.vectors.n)));
    stmt *s = code_let(&m->out.code, vector_type(m, e), name, cexpr_spelled(m->mem, "{0}"));
    s->bytes = vector_bytes(m, e), s->trips = m->tile.vectors.n;
}

static void exchange_elements(emitter *m, int load, element e)
{
    const cexpr *all = cexpr_word(m->mem, load == RESULT ? "ty" : arena_format(m->mem, "t%d", load));
    code_call(&m->out.code, vector_one(m, e, "turn", all));
}

/* Vectors along the loop, one for each element of a vector along the other */
static void move(emitter *m, const strip *t, int load, dtype d)
{
    vector_loop *v = &m->tile.vectors;
    const int n_var = m->sp.n, was_count = v->count, count = (int)int_min(v->n, vectors_trips(m, t->ph));
    emit_written_out(m, "turn", count);
    const affine *each = affine_var(&m->sp, var_add(&m->sp, "turn", 0, count - 1));
    const position was = vector_go(m, v->axis, each, 1),
                   begin = vector_go(m, trips_loop(m, t)->axis, affine_const(&m->sp, t->first), 1);
    const cexpr *own = name_of(m, load, cexpr_word(m->mem, "turn"));
    v->count = (int)(t->end - t->first);
    if (load == RESULT)
        vector_write(m, d, emit_result(m), own);
    else
        code_store(&m->out.code, own, vector_read(m, d, emit_element(m, load)));
    v->count = was_count;
    vector_back(m, trips_loop(m, t)->axis, begin), vector_back(m, v->axis, was), m->sp.n = n_var;
    code_close(&m->out.code);
}

void turn_open(emitter *m, const strip *t)
{
    turned_access all;
    find(m, t->ph, &all);
    code_open(&m->out.code, (stmt){.kind = S_BLOCK});
    for (int i = 0; i < m->s->n_load; i++) {
        const dtype d = source_dtype(m, i);
        if (!all.of[i])
            continue;
        declare(m, i, vector_kind_of(m, d));
        move(m, t, i, d);
        exchange_elements(m, i, vector_kind_of(m, d));
    }
    if (all.of[RESULT])
        declare(m, RESULT, vector_kind_of(m, stored_as(m->p, m->s->node)));
    const char *trip = tile_loop(m, t->loop);
    all.trip = cexpr_plus(m->mem, cexpr_word(m->mem, trip), -t->first);
    m->tile.turned = all;
}

void turn_close(emitter *m, const strip *t)
{
    const dtype d = stored_as(m->p, m->s->node);
    if (m->tile.turned.of[RESULT]) {
        exchange_elements(m, RESULT, vector_kind_of(m, d));
        move(m, t, RESULT, d);
    }
    m->tile.turned = (turned_access){0};
    code_close(&m->out.code);
}

const cexpr *turn_element(const emitter *m, int load)
{
    return m->tile.turned.of[load] ? name_of(m, load, m->tile.turned.trip) : NULL;
}
