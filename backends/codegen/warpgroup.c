/* warpgroup.c - products that several warps form together: a unit reads both operands from slices in the memory of the
 * group, of which descriptors tell, while warps wait. Descriptors are the same in all of these warps: they say where
 * the first one's rows are. What comes to a batch of such products begins and ends with the tile's step. */
#include "backends/codegen/fragment.h"
#include "backends/codegen/rings.h"
#include "backends/codegen/trips.h"

#include <string.h>

typedef struct operand_read {
    const source *from;
    int load, axis, folded; /* the axis of its own that the unit walks, and the folded one */
    bool turned;            /* neighbours are those of its own axis */
    int64_t size;
    const affine *start; /* where this warpgroup's part of it begins, in elements */
} operand_read;

typedef struct batch {
    const matrix_form *form;
    operand_read of[2];
} batch;

bool matrix_waits(const emitter *m)
{
    unit_loops u;
    const matrix_form *f;
    return matrix_of(m, &u, &f) && f && f->group;
}

void matrix_show(emitter *m)
{
    unit_loops u;
    const matrix_form *f;
    if (m->tile.made && matrix_of(m, &u, &f) && f && f->group)
        emit_call(m, f->group->show, 0, NULL);
}

/* The warps that share a unit count as their first one. */
static void take_warps(emitter *m, const unit_loops *u, const matrix_form *f)
{
    int last = -1;
    for (int l = nest_unrolled(m->s); l < m->s->nest.n; l++)
        last = m->s->nest.loop[l].role->group ? l : last;
    for (int l = nest_unrolled(m->s); l < m->s->nest.n; l++) {
        const loop *q = &m->s->nest.loop[l];
        if (!q->role->group)
            continue;
        lanes_lane(m);
        const char *name = tile_loop(m, l);
        const affine *trip = affine_var(&m->sp, var_add(&m->sp, name, 0, loop_trips(q) - 1));
        if (l == last && q->axis == m->s->nest.loop[u->loop[0]].axis)
            trip = affine_scale(&m->sp, affine_div(&m->sp, trip, f->group->warps), f->group->warps);
        trips_go(m, q->axis, trip, q->step);
    }
}

static const affine *place_of(emitter *m, const operand_read *q)
{
    const source *s = q->from;
    const affine *own = affine_add(&m->sp, m->tile.inner[q->axis], s->base[q->axis], -1),
                 *deep = affine_add(&m->sp, m->tile.inner[q->folded], s->base[q->folded], -1);
    if (!q->turned)
        return affine_add(&m->sp, deep, own, s->stride[q->axis]);
    const affine *at = s->block ? affine_add(&m->sp, affine_mod(&m->sp, own, s->block),
                                             affine_div(&m->sp, own, s->block), s->apart)
                                : own;
    return affine_add(&m->sp, at, deep, s->stride[q->folded]);
}

static void find_operand(emitter *m, const matrix_form *f, const unit_loops *u, int i, operand_read *q)
{
    enum { ROWS = 8, PIECE = 16 };
    const source *s = &m->data.source[m->stage.at][u->load[i]];
    *q = (operand_read){.from = s,
                        .load = u->load[i],
                        .axis = m->s->nest.loop[u->loop[i]].axis,
                        .folded = m->s->nest.loop[u->loop[2]].axis,
                        .size = ts_dtype_bytes(source_dtype(m, u->load[i]))};
    q->turned = s->stride[q->folded] != 1;
    q->start = place_of(m, q);
    const int64_t row = s->stride[q->turned ? q->folded : q->axis] * q->size;
    const cexpr *c = cexpr_word(m->mem, arena_format(m->mem, "c%d", q->load)),
                *at = cexpr_form(m->mem, "($0 + $1 * ($2))", 3,
                                 (const cexpr *const[]){emit_form(m, m->d->address, 1, &c), emit_whole(m, q->size),
                                                        emit_index(m, q->start)});
    code_let(&m->out.code, arena_format(m->mem, "const %s", m->d->natural[3]), arena_format(m->mem, "slice%d", q->load),
             emit_form(m, f->group->slice, 4,
                       (const cexpr *const[]){at, emit_whole(m, row), emit_whole(m, ROWS * row),
                                              emit_whole(m, q->turned && s->block ? s->apart * q->size : PIECE)}));
}

/* What the unit multiplies of it; rows: of the unit's, of its own axis, that one warp has */
static const cexpr *slice_of(emitter *m, const operand_read *q, int64_t rows, int64_t deep)
{
    enum { PIECE = 16 };
    const affine *more = affine_add(&m->sp, place_of(m, q), q->start, -1);
    const cexpr *begin = cexpr_word(m->mem, arena_format(m->mem, "slice%d", q->load)),
                *piece = emit_whole(m, PIECE / q->size);
    cexpr *x = (cexpr *)(!more->n && !more->c ? begin
                                              : cexpr_form(m->mem, "($0 + ($1) / $2)", 3,
                                                           (const cexpr *const[]){begin, emit_index(m, more), piece}));
    x->moves = TAKES_SLICE, x->stage = m->stage.at, x->load = q->load, x->bytes = (int)(rows * deep * q->size);
    return x;
}

/* Around a statement about all sums of a trip */
static void each_sums(emitter *m, const char *form)
{
    int opened = matrix_trips(m);
    const cexpr *sums = emit_sums(m);
    emit_call(m, form, 1, &sums);
    while (opened-- > 0)
        code_close(&m->out.code);
}

static void multiply(emitter *m, const void *user)
{
    const batch *b = user;
    trips_place was;
    trips_save(m, &was);
    int opened = matrix_trips(m);
    for (int l = nest_unrolled(m->s); l < m->s->nest.n; l++) {
        const loop *q = &m->s->nest.loop[l];
        if (fragment_trips(m, l, ~m->s->folds))
            trips_go(m, q->axis, affine_var(&m->sp, var_add(&m->sp, tile_loop(m, l), 0, loop_trips(q) - 1)), q->step);
    }
    const matrix_form *f = b->form;
    const cexpr *a = slice_of(m, &b->of[0], f->m, f->k),
                *columns = slice_of(m, &b->of[1], f->n / f->group->warps, f->k);
    emit_call(m, f->text, 5,
              (const cexpr *const[]){emit_sums(m), a, columns, emit_whole(m, b->of[0].turned),
                                     emit_whole(m, b->of[1].turned)});
    while (opened-- > 0)
        code_close(&m->out.code);
    trips_leave(m, &was);
}

void warpgroup_body(emitter *m, const matrix_form *f, const unit_loops *u)
{
    batch b = {.form = f};
    trips_place was;
    trips_save(m, &was);
    take_warps(m, u, f);
    for (int i = 0; i < 2; i++)
        find_operand(m, f, u, i, &b.of[i]);
    each_sums(m, f->group->begin);
    matrix_folds(m, multiply, &b);
    emit_call(m, f->group->sent, 0, NULL);
    trips_leave(m, &was);
    ring_send(m);
    each_sums(m, f->group->end);
}
