/* matrix.c - tiles whose products a matrix unit forms, the lanes of a warp together. Every lane holds some of the sums,
 * at rows and columns that the dialect's form says; what the unit multiplies is loaded from slices in the group's
 * memory into fragments, once for all sums that need them. Slices are whole trips of the unit, zeros where operands
 * end, so that nothing here is tested; what is written is. */
#include "backends/codegen/fragment.h"
#include "backends/codegen/trips.h"

#include <stdio.h>
#include <string.h>

static dtype summed_in(const stage *s) /* halves are summed in f32 */
{
    const dtype d = stage_fold(s)->dtype;
    return dtype_class(d) == D_REAL && dtype_bits(d) < 32 ? TS_F32 : d;
}

/* *form NULL and true: the loops ask for a unit that the language does not have (matrix_check says so). */
bool matrix_of(const emitter *m, unit_loops *u, const matrix_form **form)
{
    *form = NULL;
    if (!m->stage.fold || !nest_unit(m->s, u) || !m->s->nest.loop[u->loop[0]].role->warp || u->load[0] < 0)
        return false;
    for (const matrix_form *f = m->d->matrix; f && f->m; f++)
        if (f->sums && f->m == u->trips[0] && f->n == u->trips[1] && f->k == u->trips[2] &&
            f->operand == source_dtype(m, u->load[0]) && f->sum == summed_in(m->s))
            *form = f;
    return true;
}

bool matrix_check(emitter *m)
{
    unit_loops u;
    const matrix_form *f;
    if (!m->stage.fold || !nest_unit(m->s, &u) || (matrix_of(m, &u, &f) && f))
        return true;
    const bool alone = !m->s->nest.loop[u.loop[0]].role->warp;
    err_set(m->e, TS_UNSUPPORTED, "%s: kernels in %s have no matrix unit for %lld x %lld x %lld of %s%s", m->k->op,
            m->d->name, (long long)u.trips[0], (long long)u.trips[1], (long long)u.trips[2],
            ts_dtype_name(source_dtype(m, u.load[0])), alone ? " that a worker has alone" : "");
    ENDED_BY(text_free) text have = {0};
    for (f = m->d->matrix; f && f->m; f++)
        text_add(&have, "%s%d x %d x %d of %s", have.length ? ", " : "those it has: ", f->m, f->n, f->k,
                 ts_dtype_name(f->operand));
    return err_hint(m->e, "write its loops without the unit's role, or plan for a target that has it; %s",
                    have.length ? text_str(&have) : "this one has none");
}

bool matrix_sums(const emitter *m)
{
    unit_loops u;
    const matrix_form *f;
    return matrix_of(m, &u, &f);
}

/* Within its warp; groups of one warp need no remainder. */
static const cexpr *matrix_lane(emitter *m)
{
    const int warp = m->p->on->warp;
    const cexpr *lane = lanes_lane(m);
    return m->group > warp ? cexpr_cast(m->mem, "($0)", cexpr_whole(m->mem, W_REST, lane, emit_whole(m, warp))) : lane;
}

void matrix_name(emitter *m, const char *name, const lane_part *parts)
{
    const cexpr *all = NULL;
    for (const lane_part *p = parts; p < parts + LANE_PARTS && (p->by || p->of); p++) {
        const cexpr *x = p->x == SUM_PART ? cexpr_word(m->mem, "part") : matrix_lane(m);
        x = p->by ? cexpr_floor(m->mem, x, p->by, false) : x;
        x = p->of ? cexpr_whole(m->mem, W_REST, x, emit_whole(m, p->of)) : x;
        x = p->times ? cexpr_whole(m->mem, W_TIMES, x, emit_whole(m, p->times)) : x;
        all = all ? cexpr_pointer(m->mem, "", all, x, 1) : x;
    }
    code_let(&m->out.code, arena_format(m->mem, "const %s", m->d->index), name, all);
}

/* ---- what is written ---- */
static void place_sum(emitter *m, const unit_loops *u, const matrix_form *f)
{
    const cexpr *test = NULL;
    for (int i = 0; i < 2; i++) {
        const loop *q = &m->s->nest.loop[u->loop[i]];
        const char *name = tile_loop(m, u->loop[i]);
        const int64_t have = m->here.cur[q->axis];
        matrix_name(m, name, i ? f->held->column : f->held->row);
        trips_go(m, q->axis,
                 affine_var(&m->sp, var_add(&m->sp, name, 0, (have < u->trips[i] ? have : u->trips[i]) - 1)), 1);
        if (have < u->trips[i])
            test = cexpr_both(m->mem, test, cexpr_whole(m->mem, W_LESS, cexpr_word(m->mem, name), emit_whole(m, have)));
        m->here.cur[q->axis] = 1;
    }
    code_open(&m->out.code, (stmt){.kind = test ? S_IF : S_BLOCK, .value = test, .divergent = test});
}

static const move_form *move_of(const emitter *m, int bytes)
{
    const move_form *q = m->d->move;
    while (q && q->bytes && q->bytes != bytes)
        q++;
    return q && q->bytes ? q : NULL;
}

/* Where the first sum of a lane is in the result, if the second one is its neighbour; else NULL. */
static const affine *first_of_run(emitter *m, const unit_loops *u)
{
    const int row = m->s->nest.loop[u->loop[0]].axis, axis = m->s->nest.loop[u->loop[1]].axis;
    const affine *place[MAX_AXIS];
    memcpy(place, m->tile.inner, sizeof place);
    place[row] = affine_add(&m->sp, place[row], affine_var(&m->sp, var_add(&m->sp, "row", 0, u->trips[0] - 1)), 1);
    const affine *at = store_offset(m, place);
    place[axis] = affine_add(&m->sp, place[axis], affine_const(&m->sp, 1), 1);
    const affine *apart = affine_add(&m->sp, store_offset(m, place), at, -1);
    return apart->n || apart->c != 1 ? NULL : at;
}

static bool multiple_of(const affine *at, int64_t n)
{
    bool all = at->c % n == 0;
    for (int i = 0; i < at->n && all; i++)
        all = at->t[i].a->kind == A_VAR && at->t[i].coef % n == 0;
    return all;
}

/* The innermost loop around the unit's, if its trips are neighbours in rows of the result; or -1 */
static int beside(const emitter *m, const unit_loops *u)
{
    const int axis = m->s->nest.loop[u->loop[1]].axis;
    int last = -1;
    for (int l = nest_unrolled(m->s); l < m->s->nest.n; l++)
        last = fragment_trips(m, l, ~m->s->folds) ? l : last;
    return last >= 0 && m->s->nest.loop[last].axis == axis && m->s->nest.loop[last].step == u->trips[1] ? last : -1;
}

static bool in_place(
    const emitter *m) /* the result lies over what the stage reads, where a lane alone reads its places */
{
    bool any = false;
    for (int i = 0; i < m->s->n_load; i++)
        any = any || m->data.source[m->stage.at][i].from == FROM_RESULT;
    return any;
}

/* How a lane stores a run of sums, which are columns: as one piece, if it is contiguous and aligned to its length; or
 * as two pieces, of which lanes exchange parts. */
static void find_run(emitter *m, const unit_loops *u, const matrix_form *f)
{
    const int bytes = f->held->run * ts_dtype_bytes(stored_as(m->p, m->s->node)), n_var = m->sp.n;
    const bool whole = f->held->run > 1 && !m->stage.outer_fold &&
                       m->here.cur[m->s->nest.loop[u->loop[1]].axis] >= u->trips[1];
    const affine *at = whole ? first_of_run(m, u) : NULL;
    m->tile.run = at && multiple_of(at, f->held->run) ? move_of(m, bytes) : NULL;
    const bool rows = m->here.cur[m->s->nest.loop[u->loop[0]].axis] >= u->trips[0]; /* all lanes of a warp come there */
    const bool two = f->held->across ? f->sums / f->held->run % (2 * f->held->across) == 0
                                     : beside(m, u) >= 0 && m->tile.trips % 2 == 0;
    if (m->tile.run && f->held->paired && rows && !in_place(m) && bytes == 4 && two &&
        multiple_of(at, 2 * f->held->run))
        m->tile.pair = move_of(m, 2 * bytes);
    m->sp.n = n_var;
}

void matrix_finish(emitter *m)
{
    unit_loops u;
    const matrix_form *f;
    if (matrix_of(m, &u, &f) && f && f->held->paired && f->held->run * ts_dtype_bytes(stored_as(m->p, m->s->node)) == 4)
        emit_words(m, "kept", "", f->held->across ? f->held->across : f->sums / f->held->run, 1);
}

int matrix_enter(emitter *m, bool placed)
{
    unit_loops u;
    const matrix_form *f;
    MUST(matrix_of(m, &u, &f));
    m->tile.run = m->tile.pair = NULL;
    if (placed && f)
        find_run(m, &u, f);
    if (m->tile.run) {
        emit_written_out(m, "run", f->sums / f->held->run);
        code_let(&m->out.code, m->tile.run->type, "both", NULL);
        emit_written_out(m, "one", f->held->run);
        code_let(&m->out.code, arena_format(m->mem, "const %s", m->d->index), "part",
                 cexpr_sum(m->mem, 0, 2, (const cexpr *const[]){cexpr_word(m->mem, "run"), cexpr_word(m->mem, "one")},
                           (const int64_t[]){f->held->run, 1}));
    } else
        emit_written_out(m, "part", f ? f->sums : 1);
    if (placed && f)
        place_sum(m, &u, f);
    else
        code_open(&m->out.code, (stmt){.kind = S_BLOCK});
    return m->tile.run ? 3 : 2;
}

/* To where element y is, less so many, and less `before` where that is no NULL */
static void store_run(emitter *m, const move_form *form, const cexpr *y, int less, const cexpr *before,
                      const cexpr *value)
{
    const cexpr *far = before ? cexpr_pointer(m->mem, "", before, emit_whole(m, less), 1) : emit_whole(m, less),
                *at = cexpr_whole_as(m->mem, W_ADDRESS,
                                     arena_format(m->mem, before ? "&$0 - %d - ($2)" : "&$0 - %d", less),
                                     before ? 3 : 2, (const cexpr *const[]){y, far, before});
    code_call(&m->out.code, emit_move(m, PUTS, form->put, form->bytes, 2, (const cexpr *const[]){at, value}));
}

static const cexpr *is_even(emitter *m, const cexpr *x)
{
    return cexpr_whole(m->mem, W_SAME, cexpr_whole(m->mem, W_REST, x, emit_whole(m, 2)), emit_whole(m, 0));
}

/* The first of two runs is kept until the second is there. */
static void store_pair(emitter *m, const cexpr *y, int less)
{
    unit_loops u;
    const matrix_form *f;
    MUST(matrix_of(m, &u, &f));
    const sums_form *of = f->held;
    const int l = of->across ? -1 : beside(m, &u);
    const cexpr *run = cexpr_word(m->mem, "run"), *both = cexpr_word(m->mem, "both"), *lane = matrix_lane(m),
                *kept = cexpr_element(m->mem, "kept",
                                      of->across ? cexpr_whole(m->mem, W_REST, run, emit_whole(m, of->across)) : run,
                                      IN_REGISTERS),
                *turn = of->across ? cexpr_floor(m->mem, run, of->across, false) : tile_trip(m, l),
                *value = emit_form(m, of->paired, 3, (const cexpr *const[]){kept, both, lane}),
                *odd = cexpr_whole(m->mem, W_REST, lane, emit_whole(m, 2)),
                *before = cexpr_whole_as(
                    m->mem, W_WHERE, "($0 ? $1 : $2)", 3,
                    (const cexpr *const[]){odd, emit_whole(m, of->before[1]), emit_whole(m, of->before[0])});
    stmt *first = code_open(&m->out.code, (stmt){.kind = S_IF, .value = is_even(m, turn)});
    code_store(&m->out.code, kept, both);
    code_close(&m->out.code);
    code_else(&m->out.code, first);
    store_run(m, m->tile.pair, y, less, before, value);
    code_close(&m->out.code);
}

void matrix_store(emitter *m, const cexpr *y, const cexpr *value)
{
    const dtype d = stored_as(m->p, m->s->node);
    const int last = m->tile.run->bytes / ts_dtype_bytes(d) - 1;
    code_store(&m->out.code,
               cexpr_at(m->mem,
                        cexpr_one(m->mem, arena_format(m->mem, "((%s *)&$0)", memory_type(m->d, d)),
                                  cexpr_word(m->mem, "both")),
                        cexpr_word(m->mem, "one"), IN_REGISTERS),
               value);
    code_open(
        &m->out.code,
        (stmt){.kind = S_IF, .value = cexpr_whole(m->mem, W_SAME, cexpr_word(m->mem, "one"), emit_whole(m, last))});
    if (m->tile.pair)
        store_pair(m, y, last);
    else
        store_run(m, m->tile.run, y, last, NULL, cexpr_word(m->mem, "both"));
    code_close(&m->out.code);
}

/* ---- what is summed ---- */
typedef struct fragments {
    const matrix_form *form;
    fragment of[2];
} fragments;

static void open_trips(emitter *m, int l)
{
    const loop *q = &m->s->nest.loop[l];
    const int64_t trips = loop_trips(q);
    code_open(&m->out.code, (stmt){.kind = S_LOOP,
                                   .how = WRITTEN_OUT,
                                   .role = q->role->name,
                                   .stage = m->stage.at,
                                   .depth = loop_depth(m, &m->s->nest, l),
                                   .name = tile_loop(m, l),
                                   .from = emit_whole(m, 0),
                                   .to = emit_whole(m, trips),
                                   .trips = trips});
}

int matrix_trips(emitter *m)
{
    int opened = 0;
    for (int l = nest_unrolled(m->s); l < m->s->nest.n; l++)
        if (fragment_trips(m, l, ~m->s->folds))
            open_trips(m, l), opened++;
    return opened;
}

static void multiply(emitter *m, const void *user)
{
    const fragments *all = user;
    const fragment *q = all->of;
    code_open(&m->out.code, (stmt){.kind = S_BLOCK});
    fragment_take(m, &q[0]), fragment_take(m, &q[1]);
    int opened = matrix_trips(m);
    emit_call(m, all->form->text, 3,
              (const cexpr *const[]){emit_sums(m), fragment_words(m, &q[0]), fragment_words(m, &q[1])});
    while (opened-- >= 0)
        code_close(&m->out.code);
}

static void take_lanes(emitter *m) /* which trips of the loops over warps are this one's */
{
    for (int l = nest_unrolled(m->s); l < m->s->nest.n; l++) {
        const loop *q = &m->s->nest.loop[l];
        if (q->role->group)
            lanes_lane(m),
                trips_go(m, q->axis, affine_var(&m->sp, var_add(&m->sp, tile_loop(m, l), 0, loop_trips(q) - 1)),
                         q->step);
    }
}

typedef struct folding {
    void (*each)(emitter *m, const void *user);
    const void *user;
} folding;

static void fold_trips(emitter *m, const folding *f, int l)
{
    while (l < m->s->nest.n && !fragment_trips(m, l, m->s->folds))
        l++;
    if (l == m->s->nest.n) {
        f->each(m, f->user);
        return;
    }
    const loop *p = &m->s->nest.loop[l];
    trips_place was;
    trips_save(m, &was);
    for (int64_t i = 0; i < (m->here.cur[p->axis] + p->step - 1) / p->step; i++) {
        trips_go(m, p->axis, affine_const(&m->sp, i), p->step);
        fold_trips(m, f, l + 1);
        trips_leave(m, &was);
    }
}

void matrix_folds(emitter *m, void (*each)(emitter *m, const void *user), const void *user)
{
    fold_trips(m, &(folding){each, user}, nest_unrolled(m->s));
}

/* Folded loops in registers are around all else. */
static void fragments_body(emitter *m, const matrix_form *f, const unit_loops *u)
{
    fragments all = {.form = f};
    for (int i = 0; i < 2; i++)
        fragment_find(m, f, u, i, &all.of[i]);
    take_lanes(m);
    for (int i = 0; i < 2; i++)
        fragment_start(m, &all.of[i]);
    matrix_folds(m, multiply, &all);
}

void matrix_body(emitter *m)
{
    unit_loops u;
    const matrix_form *f;
    trips_place was;
    const bool some = nest_group(m->s) < m->group;
    if (!matrix_of(m, &u, &f) || !f)
        return;
    trips_save(m, &was);
    code_open(&m->out.code,
              (stmt){.kind = some ? S_IF : S_BLOCK,
                     .divergent = some,
                     .value = cexpr_whole(m->mem, W_LESS, lanes_lane(m), emit_whole(m, nest_group(m->s)))});
    (f->group ? warpgroup_body : fragments_body)(m, f, &u);
    code_close(&m->out.code);
    trips_leave(m, &was);
}

strip *matrix_pass(emitter *m, strip *t)
{
    const role *r = t->kind == T_LOOP ? trips_loop(m, t)->role : NULL;
    unit_loops u;
    const matrix_form *form;
    if (r && r->unit && r->warp)
        t->kind = T_UNIT, t->in = NULL;
    else if (t->kind == T_APART && t->ph == BODY && matrix_of(m, &u, &form))
        t->kind = T_PRODUCT, t->in = NULL;
    return t;
}
