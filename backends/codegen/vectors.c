/* vectors.c - a tile's loop over lanes in vectors. The loop becomes one over vectors of n neighbours; what is summed up
 * stays in an array of vectors, which the compiler keeps in registers since all subscripts are constants:
 *
 *     f32x8 acc[4][3];
 *     acc[m_3][n_4] = f32x8_fma(f32x8_splat(x0[m_3]), f32x8_load(&x1[8 * n_4]), acc[m_3][n_4]);
 *
 * What is left over at the end is a vector of which fewer elements count. */
#include "backends/codegen/trips.h"
#include "backends/codegen/vectors.h"

#include <string.h>

/* ---- whether a tile has them ---- */
static const loop *last_loop(const emitter *m)
{
    return m->s->nest.n > nest_unrolled(m->s) ? &m->s->nest.loop[nest_last(m->s)] : NULL;
}

static bool only_one(const emitter *m) /* loop over lanes; no lanes of a group, no matrix unit */
{
    for (int l = nest_unrolled(m->s); l < m->s->nest.n; l++) {
        const role *r = m->s->nest.loop[l].role;
        if (r->group || r->unit || (r->lanes && l < nest_last(m->s)))
            return false;
    }
    return true;
}

/* The widest that a stage computes in, in bytes: functions that reckon in f64 count */
static int widest(emitter *m, const expr *x)
{
    element e;
    int most = vector_kind(m, x->dtype, &e) && dtype_class(x->dtype) == D_REAL ? element_bytes(e) : 4;
    const writer w = emit_writer(m);
    if (x->kind == X_CALL && dtype_class(x->dtype) == D_REAL) {
        const char *form = cstyle_spelled(&w, x);
        callees own = {0};
        callees_lanes(&own, m->d, arena_format(m->mem, "%.*s", (int)strcspn(form, "("), form), (instance){E_F32, 4});
        most = callees_wide(&own, m->d) ? 8 : most;
    }
    for (int i = 0; x->kind != X_LOAD && i < x->n; i++) {
        const int more = widest(m, x->arg[i]);
        most = more > most ? more : most;
    }
    return most;
}

static int64_t trips_of(const emitter *m, const loop *q) /* elements that the loop has: all of a folded axis */
{
    const int64_t left = nest_left(m->k, m->s, q->axis, nest_last(m->s) - 1);
    return m->s->folds >> q->axis & 1 ? left : int_min(left, m->here.cur[q->axis]);
}

/* ---- where the loops stand ---- */
static const affine **inner_axes(emitter *m)
{
    return m->tile.made ? m->tile.inner : m->here.axis;
}

position vector_go(emitter *m, int axis, const affine *at, int64_t by)
{
    const position was = {inner_axes(m)[axis], m->tile.plain[axis]};
    trips_go(m, axis, at, by);
    return was;
}

void vector_back(emitter *m, int axis, position was)
{
    inner_axes(m)[axis] = was.inner;
    if (m->tile.made)
        m->tile.plain[axis] = was.plain;
}

static bool vector_near(emitter *m, const affine *at, int along, int axis, int64_t apart)
{
    int own[] = {along, axis};
    return affine_coef(at, along) == apart &&
           !affine_uses(affine_add(&m->sp, at, affine_var(&m->sp, along), -apart), vector_moves, own);
}

bool vector_lies(emitter *m, int load, int axis, int n, int64_t apart)
{
    const int own = var_add(&m->sp, "", 0, n - 1);
    const position was = vector_go(m, axis, affine_var(&m->sp, own), 1);
    const affine *at = load == RESULT   ? store_offset(m, inner_axes(m))
                       : load == STATES ? state_offset(m, inner_axes(m))
                                        : source_offset(m, load, inner_axes(m));
    vector_back(m, axis, was);
    const bool runs = vector_near(m, at, own, axis, apart);
    m->sp.n--;
    return runs;
}

bool vector_runs(emitter *m, int load, int axis, int n)
{
    return vector_lies(m, load, axis, n, 1);
}

/* Whether every n elements of the result, from each multiple of n, are contiguous; of a shorter loop all of them */
static bool result_runs(emitter *m, int of, const loop *q, int n)
{
    const int n_var = m->sp.n;
    const int64_t trips = trips_of(m, q);
    const position was = vector_go(m, q->axis, affine_var(&m->sp, var_add(&m->sp, "", 0, (trips - 1) / n)), n);
    const bool runs = vector_runs(m, of, q->axis, (int)int_min(trips, n));
    vector_back(m, q->axis, was), m->sp.n = n_var;
    return runs;
}

/* What is summed up, or carried from trip to trip, can be in vectors. */
static bool folds(emitter *m)
{
    const expr *x = m->stage.carries ? m->stage.value : m->stage.fold;
    const bool several = m->stage.carries || tuple_fold(m);
    element e;
    bool all = !several || !m->stage.outer_fold;
    if (!x || (m->stage.carries && m->stage.fold))
        return !x;
    for (int k = 0; several && k < x->n_state; k++)
        all = all && vector_kind(m, x->arg[k]->dtype, &e);
    all = all && !(m->stage.outer_fold && x->dtype == TS_BOOL); /* parts are no masks */
    return all && (several || (vector_kind(m, x->dtype, &e) && vector_combines(m, x->fn, x->dtype)));
}

int vector_count(const emitter *m, int bytes)
{
    return m->d->vectors ? m->p->on->lanes[TS_F32] * 4 / bytes : 0;
}

const cexpr *vectors_enter(emitter *m, int n, const char *name, const cexpr *from, const cexpr *to)
{
    int64_t start;
    m->tile.vectors = (vector_loop){.n = n, .count = n};
    code_open(&m->out.code, (stmt){.kind = S_LOOP,
                                   .name = name,
                                   .from = from,
                                   .to = cexpr_two(m->mem, "($0 - $1)", to, emit_whole(m, n - 1)),
                                   .step = n});
    if (cexpr_known(from, &start) && !start)
        return cexpr_one(m->mem, arena_format(m->mem, "($0 / %d * %d)", n, n), to);
    return cexpr_two(m->mem, arena_format(m->mem, "($0 + ($1 - $0) / %d * %d)", n, n), from, to);
}

void vectors_leave(emitter *m)
{
    code_close(&m->out.code);
    m->tile.vectors = (vector_loop){0};
}

static int most_of(emitter *m, int64_t trips, int n_x, const expr *const *x) /* elements of one */
{
    int wide = 4, n = 2;
    for (int i = 0; i < n_x; i++)
        wide = (int)int_max(wide, widest(m, x[i]));
    while (n < vector_count(m, wide) && n < trips)
        n *= 2;
    return n;
}

/* one: all neighbours fold into it */
static bool storable(const emitter *m, bool one)
{
    const dtype d = stored_as(m->p, m->s->node);
    const char *wrap = cstyle_store(m->mem, m->d, NULL, d);
    element e;
    return vector_kind(m, d, &e) && !dtype_small(d) && vector_kind(m, m->stage.value->dtype, &e) &&
           (one || *wrap == '$' || callees_have(m->d, wrap, strcspn(wrap, "("), (instance){E_F32, 4}));
}

int vector_beside(emitter *m, const row_loop *r, int n_x, const expr *const *x)
{
    const int64_t extent = m->s->extent[r->axis];
    const int n = m->d->vectors && extent > 1 ? most_of(m, extent, n_x, x) : 0, n_var = m->sp.n;
    if (!n || n > extent || !storable(m, false))
        return 0;
    const affine *was = m->here.axis[r->axis];
    const int own = var_add(&m->sp, "", 0, extent - 1);
    element e;
    m->here.axis[r->axis] = affine_var(&m->sp, own);
    m->tile.vectors = (vector_loop){.n = n, .axis = r->axis, .count = n};
    bool all = vector_near(m, r->place(r->user), own, r->axis, 1);
    for (int i = 0; i < n_x && all; i++)
        all = vector_kind(m, x[i]->dtype, &e) && vector_gains(m, x[i], true);
    m->tile.vectors = (vector_loop){0};
    m->here.axis[r->axis] = was, m->sp.n = n_var;
    return all ? n : 0;
}

void vectors_find(emitter *m)
{
    const loop *q = last_loop(m);
    m->tile.vectors = (vector_loop){0};
    if (!m->d->vectors || !q || !q->role->lanes || q->step != 1 || !only_one(m) ||
        !storable(m, m->s->folds >> q->axis & 1) || !folds(m))
        return;
    const int64_t trips = trips_of(m, q);
    const int n = most_of(m, trips, 1, &m->stage.value);
    if (trips < 2)
        return;
    if ((m->stage.outer_fold && !(m->s->folds >> q->axis & 1) &&
         !result_runs(m, RESULT, q, n)) || /* it is read again */
        (m->stage.carries && !result_runs(m, STATES, q, n)))
        return;
    m->tile.vectors = (vector_loop){.n = n, .axis = q->axis, .count = (int)int_min(n, trips)};
    turn_expect(m);
    if (!m->stage.fold && !m->stage.carries &&
        !vector_gains(m, m->stage.value,
                      vector_runs(m, RESULT, q->axis, m->tile.vectors.count) || m->tile.turned.of[RESULT]))
        m->tile.vectors = (vector_loop){0};
    m->tile.turned = (turned_access){0};
}

int64_t vectors_of(const emitter *m) /* that the loop over lanes has */
{
    const int n = m->tile.vectors.n;
    return (trips_of(m, last_loop(m)) + n - 1) / n;
}

/* What the stage computes, with those choices taken that are the same for all elements of the vector at hand */
const expr *vectors_value(emitter *m)
{
    const vector_loop *v = &m->tile.vectors;
    const int n_var = m->sp.n;
    if (!v->n || v->each)
        return partial_value(m);
    const position was = vector_go(m, v->axis, affine_var(&m->sp, var_add(&m->sp, "", 0, v->count - 1)), 1);
    const expr *x = partial_value(m);
    vector_back(m, v->axis, was), m->sp.n = n_var;
    return x;
}

/* ---- loops over them ---- */
int64_t vectors_trips(const emitter *m, tile_phase ph)
{
    return ph == BODY ? m->here.cur[last_loop(m)->axis] : trips_of(m, last_loop(m));
}

strip *vectors_pass(emitter *m, strip *t)
{
    if (t->kind == T_LOOP && m->tile.vectors.n && t->loop == nest_last(m->s))
        t->kind = T_VECTORS, t->in = NULL;
    return t;
}
