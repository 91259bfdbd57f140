/* fragment.c - the unit's table says which lane holds which elements; an operand's own places are put against it, so
 * that each lane reads what it holds. */
#include "backends/codegen/fragment.h"
#include "backends/codegen/trips.h"
#include "schedule/nest/kept.h"
#include "schedule/nest/slice.h"

#include <stdio.h>
#include <string.h>

bool fragment_trips(const emitter *m, int l, uint32_t axes)
{
    const loop *q = &m->s->nest.loop[l];
    return !q->role->group && !q->role->unit && axes >> q->axis & 1;
}

static uint32_t own_axes(const emitter *m, const fragment *q)
{
    return x_axes_of(m->s->load[q->load]) & ~m->s->folds;
}

void emit_words(emitter *m, const char *name, const char *counts, int n, int64_t all)
{
    stmt *s = code_array(&m->out.code, m->d->natural[2], name, arena_format(m->mem, "%s[%d]", counts, n));
    s->bytes = 4, s->trips = n * all;
}

const cexpr *fragment_words(const emitter *m, const fragment *q)
{
    const index_list *all = NULL;
    for (int l = nest_unrolled(m->s); l < m->s->nest.n; l++)
        if (fragment_trips(m, l, own_axes(m, q)))
            all = index_add(m->mem, all, tile_trip(m, l));
    return cexpr_indexed(m->mem, q->name, all);
}

static const source *source_of(const emitter *m, const fragment *q)
{
    return &m->data.source[m->stage.at][q->load];
}

static int64_t size_of(const emitter *m, const fragment *q)
{
    return ts_dtype_bytes(source_dtype(m, q->load));
}

/* ---- which lane takes what ---- */
static const fragment_lanes *lanes_of(const fragment *q)
{
    return q->pair >= 0 ? &q->form->pair[q->across] : &q->form->along[q->across];
}

/* The last loop whose two neighbouring trips one instruction takes; -1: there is none */
static int pair_of(const emitter *m, const fragment *q, int64_t trips)
{
    int last = -1;
    for (int l = nest_unrolled(m->s); l < m->s->nest.n; l++)
        last = fragment_trips(m, l, own_axes(m, q)) ? l : last;
    const loop *p = last < 0 ? NULL : &m->s->nest.loop[last];
    return p && p->axis == q->axis && p->step == trips && loop_trips(p) % 2 == 0 && q->form->pair[q->across].take ? last
                                                                                                                  : -1;
}

static int64_t apart(emitter *m, const fragment *q, int axis) /* from one element to the next */
{
    return q->handed ? kept_stride(m->k, m->s, q->load, axis) : source_of(m, q)->stride[axis];
}

static const char *numbered(const emitter *m, const char *what, const fragment *q)
{
    return arena_format(m->mem, "%s%d", what, q->load);
}

static bool has_line(const fragment *q) /* else all lanes are in the first */
{
    const lane_part *p = lanes_of(q)->line;
    return p->by || p->of;
}

void fragment_find(emitter *m, const matrix_form *f, const unit_loops *u, int i, fragment *q)
{
    *q = (fragment){.form = i ? f->b : f->a,
                    .load = u->load[i],
                    .axis = m->s->nest.loop[u->loop[i]].axis,
                    .folded = m->s->nest.loop[u->loop[2]].axis};
    snprintf(q->name, sizeof q->name, "f%d", q->load);
    q->handed = source_of(m, q)->from == FROM_STAGE;
    if (q->handed)
        m->tile.made->loads[q->load] = true;
    q->across = apart(m, q, q->folded) != 1;
    q->pair = pair_of(m, q, u->trips[i]);
    if (has_line(q))
        matrix_name(m, numbered(m, "line", q), lanes_of(q)->line);
    matrix_name(m, numbered(m, "deep", q), lanes_of(q)->deep);
}

/* Where the lane's row is, its loops of the tile as they stand */
static const affine *place_of(emitter *m, const fragment *q)
{
    const affine *axis[MAX_AXIS];
    const int piece = lanes_of(q)->piece;
    memcpy(axis, m->tile.inner, sizeof axis);
    axis[q->axis] = affine_add(&m->sp, axis[q->axis], q->line, q->across ? piece : 1);
    axis[q->folded] = affine_add(&m->sp, axis[q->folded], q->deep, q->across ? 1 : piece);
    const affine *at = source_offset(m, q->load, axis);
    if (!q->handed)
        return at;
    const affine *start = source_offset(m, q->load, m->tile.origin);
    return affine_add(&m->sp, affine_add(&m->sp, at, start, -1), affine_const(&m->sp, 1), start->c);
}

static const cexpr *place_bytes(emitter *m, const fragment *q, const affine *at)
{
    const source *from = source_of(m, q);
    return emit_bytes(m, copy_index(m, from, at), size_of(m, q), !from->mask);
}

void fragment_start(emitter *m, fragment *q)
{
    enum { LINES = 16 };
    const char *natural = arena_format(m->mem, "const %s", m->d->natural[2]);
    const fragment_lanes *lanes = lanes_of(q);
    const int lines = LINES / (q->across ? lanes->piece : 1), deep = LINES / (q->across ? 1 : lanes->piece);
    q->line = has_line(q) ? affine_var(&m->sp, var_add(&m->sp, numbered(m, "line", q), 0, lines - 1))
                          : affine_const(&m->sp, 0);
    q->deep = affine_var(&m->sp, var_add(&m->sp, numbered(m, "deep", q), 0, deep - 1));
    q->start = place_of(m, q);
    const cexpr *from = cexpr_word(m->mem, q->handed ? arena_format(m->mem, "x%d", m->tile.made->via[q->load])
                                                     : numbered(m, "c", q));
    code_let(&m->out.code, natural, numbered(m, "at", q), place_bytes(m, q, q->start));
    code_let(&m->out.code, natural, numbered(m, "from", q), emit_form(m, m->d->address, 1, &from));
}

/* ---- its places ---- */
/* Bits below `most`, a power of two, that a sum of terms, none below 0, can have; -1: not known */
static int64_t bits_of(const emitter *m, const affine *a, int64_t most)
{
    int64_t bits = a->c % most;
    for (int i = 0; i < a->n; i++) {
        const int64_t coef = a->t[i].coef;
        int64_t low, high, all = 1;
        if (coef % most == 0)
            continue;
        affine_range(&m->sp, &(affine){.n = 1, .t = &a->t[i]}, &low, &high);
        if (a->t[i].a->kind != A_VAR || coef & (coef - 1) || low < 0)
            return -1;
        while (all <= high / coef)
            all *= 2;
        all = coef * (all - 1) & (most - 1);
        if (bits & all)
            return -1;
        bits |= all;
    }
    return bits;
}

/* The address is the lane's start plus the offsets of loops. In a swizzled slice only the start is swizzled: an offset
 * of whole periods does not change that, and offset bits that the start never has are exclusive-ored alone. *behind:
 * bytes that the instruction adds to the address. */
static const cexpr *address_of(emitter *m, const fragment *q, int64_t *behind)
{
    const source *from = source_of(m, q);
    const int64_t period = (INT64_C(1) << from->shift) * (from->mask + 1), size = size_of(m, q);
    const affine *place = place_of(m, q), *more = affine_add(&m->sp, place, q->start, -1),
                 *rest = affine_add(&m->sp, more, affine_const(&m->sp, 1), -more->c);
    const int64_t low = from->mask ? more->c % period : 0, own = bits_of(m, q->start, period);
    const cexpr *begin = cexpr_word(m->mem, numbered(m, "from", q)), *at = cexpr_word(m->mem, numbered(m, "at", q));
    bool whole = more->c >= 0 && (!from->mask || (own >= 0 && !(own & low)));
    for (int i = 0; i < rest->n; i++)
        whole = whole && (!from->mask || rest->t[i].coef % period == 0);
    *behind = whole ? (more->c - low) * size : 0;
    if (!whole)
        return cexpr_pointer(m->mem, "", begin, place_bytes(m, q, place), 1);
    const int64_t mixed = size * slice_swizzled(low, from->shift, from->mask, from->piece);
    at = mixed ? cexpr_whole(m->mem, W_BITS, at, emit_whole(m, mixed)) : at;
    return cexpr_pointer(m->mem, "", cexpr_pointer(m->mem, "", begin, at, 1),
                         emit_index(m, affine_scale(&m->sp, rest, size)), 1);
}

static void take_one(emitter *m, const fragment *q, const index_list *trips)
{
    enum { ROW = 16, LINES = 8 }; /* bytes; lanes that give the rows of one word */
    int64_t far;
    const cexpr *at = address_of(m, q, &far), *to = cexpr_indexed(m->mem, q->name, trips);
    cexpr *x = (cexpr *)emit_move(m, TAKES_ROWS, lanes_of(q)->take, ROW, 3,
                                  (const cexpr *const[]){to, at, emit_whole(m, far)});
    x->stage = m->stage.at, x->load = q->load, x->number = (q->pair >= 0 ? 2 : 1) * q->form->words * LINES;
    code_call(&m->out.code, x);
}

static void take_trips(emitter *m, const fragment *q, int l, const index_list *trips)
{
    while (l < m->s->nest.n && !fragment_trips(m, l, own_axes(m, q)))
        l++;
    if (l == m->s->nest.n) {
        take_one(m, q, trips);
        return;
    }
    const loop *p = &m->s->nest.loop[l];
    trips_place was;
    trips_save(m, &was);
    for (int64_t i = 0; i < loop_trips(p); i += l == q->pair ? 2 : 1) {
        trips_go(m, p->axis, affine_const(&m->sp, i), p->step);
        take_trips(m, q, l + 1, index_add(m->mem, trips, emit_whole(m, i)));
        trips_leave(m, &was);
    }
}

void fragment_take(emitter *m, const fragment *q)
{
    ENDED_BY(text_free) text counts = {0};
    int64_t all = 1;
    for (int l = nest_unrolled(m->s); l < m->s->nest.n; l++) {
        const int64_t trips = loop_trips(&m->s->nest.loop[l]);
        if (fragment_trips(m, l, own_axes(m, q)))
            text_add(&counts, "[%lld]", (long long)trips), all *= trips;
    }
    emit_words(m, q->name, text_str(&counts), q->form->words, all);
    take_trips(m, q, nest_unrolled(m->s), NULL);
}
