/* matrix.c - tiles whose products a matrix unit forms, the lanes of a warp together. Every lane holds some of the sums,
 * at rows and columns that the dialect's form says; what the unit multiplies is loaded from slices in the group's
 * memory into fragments, once for all sums that need them. Slices are whole trips of the unit, zeros where operands
 * end, so that nothing here is tested; what is written is. */
#include "backends/codegen/emit.h"
#include "schedule/kept.h"

#include <stdio.h>
#include <string.h>

static dtype summed_in(const stage *s) /* halves are summed in f32 */
{
    const dtype d = stage_fold(s)->dtype;
    return dtype_class(d) == D_REAL && dtype_bits(d) < 32 ? TS_F32 : d;
}

bool matrix_of(const emitter *m, unit_loops *u, const matrix_form **form)
{
    *form = NULL;
    if (!m->stage.fold || !nest_unit(m->s, u) || !m->s->nest.loop[u->loop[0]].role->warp || u->load[0] < 0)
        return false;
    for (int i = 0; i < m->d->n_matrix; i++) {
        const matrix_form *f = &m->d->matrix[i];
        if (f->sums && f->m == u->trips[0] && f->n == u->trips[1] && f->k == u->trips[2] &&
            f->operand == source_dtype(m, u->load[0]) && f->sum == summed_in(m->s))
            *form = f;
    }
    return true;
}

bool matrix_check(emitter *m)
{
    unit_loops u;
    const matrix_form *f;
    if (!matrix_of(m, &u, &f) || f)
        return true;
    err_set(m->e, TS_UNSUPPORTED, "%s: kernels in %s have no matrix unit for %lld x %lld x %lld of %s", m->k->op,
            m->d->name, (long long)u.trips[0], (long long)u.trips[1], (long long)u.trips[2],
            ts_dtype_name(source_dtype(m, u.load[0])));
    return err_hint(m->e, "write its loops without the unit's role, or plan for a target that has it");
}

const char *matrix_sum(const emitter *m)
{
    unit_loops u;
    const matrix_form *f;
    return matrix_of(m, &u, &f) ? "[part]" : NULL;
}

static const char *warp_lane(emitter *m)
{
    const int warp = m->p->on->warp;
    return m->group > warp ? arena_format(m->mem, "(%s %% %d)", lanes_lane(m), warp) : lanes_lane(m);
}

static void name_form(emitter *m, const char *name, const char *form, const char *number)
{
    text value = {0};
    form_write(&value, m->out.uses, m->d, form, (const char *[]){warp_lane(m), number});
    code_let(&m->out.code, arena_format(m->mem, "const %s", m->d->index), name, value.s);
    text_free(&value);
}

static void step(emitter *m, int axis, const lin *by, int64_t times)
{
    m->tile.inner[axis] = lin_add(&m->sp, m->tile.inner[axis], by, times);
    m->tile.plain[axis] = lin_add(&m->sp, m->tile.plain[axis], by, times);
}

/* ---- what is written ---- */
static void place_sum(emitter *m, const unit_loops *u, const matrix_form *f)
{
    text test = {0};
    for (int i = 0; i < 2; i++) {
        const loop *q = &m->s->nest.loop[u->loop[i]];
        const char *name = arena_format(m->mem, "%s_%d", m->s->letter[q->axis], u->loop[i]);
        const int64_t have = m->here.cur[q->axis];
        name_form(m, name, i ? f->column : f->row, "part");
        step(m, q->axis, lin_var(&m->sp, var_add(&m->sp, name, 0, (have < u->trips[i] ? have : u->trips[i]) - 1)), 1);
        if (have < u->trips[i])
            text_add(&test, "%s%s < %lld", test.len ? " && " : "", name, (long long)have);
        m->here.cur[q->axis] = 1;
    }
    if (test.len)
        code_open(&m->out.code, (stmt){.kind = S_IF, .value = test.s, .divergent = true});
    else
        code_open(&m->out.code, (stmt){.kind = S_BLOCK});
    text_free(&test);
}

/* Whether the run that the sums of a lane are, in columns, lies in one piece at multiples of its length: how it is
 * stored then. */
static const move_form *find_run(emitter *m, const unit_loops *u, const matrix_form *f)
{
    const int row = m->s->nest.loop[u->loop[0]].axis, axis = m->s->nest.loop[u->loop[1]].axis,
              bytes = f->run * ts_dtype_bytes(stored_as(m->p, m->s->node)), n_var = m->sp.n;
    const lin *place[MAX_AXIS];
    memcpy(place, m->tile.inner, sizeof place);
    place[row] = lin_add(&m->sp, place[row], lin_var(&m->sp, var_add(&m->sp, "row", 0, u->trips[0] - 1)), 1);
    const lin *at = store_offset(m, place);
    place[axis] = lin_add(&m->sp, place[axis], lin_const(&m->sp, 1), 1);
    const lin *apart = lin_add(&m->sp, store_offset(m, place), at, -1);
    bool whole = f->run > 1 && !m->stage.outer_fold && m->here.cur[axis] >= u->trips[1] && !apart->n && apart->c == 1 &&
                 at->c % f->run == 0;
    for (int i = 0; i < at->n && whole; i++)
        whole = at->t[i].a->kind == A_VAR && at->t[i].coef % f->run == 0;
    m->sp.n = n_var;
    for (const move_form *q = m->d->move; whole && q && q->bytes; q++)
        if (q->bytes == bytes)
            return q;
    return NULL;
}

static void open_parts(emitter *m, const char *name, int64_t n)
{
    code_open(
        &m->out.code,
        (stmt){.kind = S_LOOP, .how = WRITTEN_OUT, .name = name, .from = "0", .to = number_text(m, n), .trips = n});
}

int matrix_enter(emitter *m, bool placed)
{
    unit_loops u;
    const matrix_form *f;
    MUST(matrix_of(m, &u, &f));
    m->tile.run = placed && f ? find_run(m, &u, f) : NULL;
    if (m->tile.run) {
        open_parts(m, "run", f->sums / f->run);
        code_let(&m->out.code, m->tile.run->type, "both", NULL);
        open_parts(m, "one", f->run);
        code_let(&m->out.code, arena_format(m->mem, "const %s", m->d->index), "part",
                 arena_format(m->mem, "%d * run + one", f->run));
    } else
        open_parts(m, "part", f ? f->sums : 1);
    if (placed && f)
        place_sum(m, &u, f);
    else
        code_open(&m->out.code, (stmt){.kind = S_BLOCK});
    return m->tile.run ? 3 : 2;
}

void matrix_store(emitter *m, const char *y, const char *value)
{
    const dtype d = stored_as(m->p, m->s->node);
    const int last = m->tile.run->bytes / ts_dtype_bytes(d) - 1;
    text line = {0};
    code_store(&m->out.code, arena_format(m->mem, "((%s *)&both)[one]", memory_type(m->d, d)), value);
    form_write(&line, m->out.uses, m->d, m->tile.run->put,
               (const char *[]){arena_format(m->mem, "&%s - %d", y, last), "both"});
    code_open(&m->out.code, (stmt){.kind = S_IF, .tight = true, .value = arena_format(m->mem, "one == %d", last)});
    code_add(&m->out.code, (stmt){.kind = S_CALL, .value = line.s});
    code_close(&m->out.code);
    text_free(&line);
}

/* ---- what is summed ---- */
typedef struct fragment { /* of an operand */
    const fragment_form *form;
    int load, axis, folded; /* the axis of its own that the unit walks, and the folded one */
    char name[16];
    bool across;            /* pieces lie along its own axis */
    bool handed;            /* an earlier stage computed it: it lies where the tile's pointer says; else in a slice */
    const char *from;       /* that pointer, or the slice's */
    const lin *line, *deep; /* the lane's own row of it, in pieces where these lie along it */
    const lin *start;       /* the lane's place for the first of them; at0, ... is where that lies */
} fragment;

static bool is_trip(const loop *q, uint32_t axes) /* written out over one of the axes */
{
    return !q->role->group && !q->role->unit && axes >> q->axis & 1;
}

static void open_trips(emitter *m, int l, int64_t trips)
{
    const loop *q = &m->s->nest.loop[l];
    char name[16];
    snprintf(name, sizeof name, "%s_%d", m->s->letter[q->axis], l);
    code_open(&m->out.code, (stmt){.kind = S_LOOP,
                                   .how = WRITTEN_OUT,
                                   .role = q->role->name,
                                   .name = name,
                                   .from = "0",
                                   .to = number_text(m, trips),
                                   .trips = trips});
    step(m, q->axis, lin_var(&m->sp, var_add(&m->sp, name, 0, trips - 1)), q->step);
}

/* The subscripts of a fragment, or how many there are of each */
static void subscripts_of(const emitter *m, const fragment *q, bool counts, text *t)
{
    const uint32_t own = x_axes_of(m->s->load[q->load]) & ~m->s->folds;
    for (int l = nest_unrolled(m->s); l < m->s->nest.n; l++) {
        const loop *p = &m->s->nest.loop[l];
        if (!is_trip(p, own))
            continue;
        if (counts)
            text_add(t, "[%lld]", (long long)loop_trips(p));
        else
            text_add(t, "[%s_%d]", m->s->letter[p->axis], l);
    }
}

/* Where the lane's row is, its loops of the tile as they stand */
static const lin *place_of(emitter *m, const fragment *q)
{
    const lin *axis[MAX_AXIS];
    const int piece = q->form->along[q->across].piece;
    for (int i = 0; i < 2; i++) {
        const int a = i ? q->folded : q->axis;
        if (!i)
            memcpy(axis, m->tile.inner, sizeof axis);
        axis[a] = lin_add(&m->sp, axis[a], i ? q->deep : q->line, q->across == !i ? piece : 1);
    }
    const lin *at = source_offset(m, q->load, axis);
    if (!q->handed)
        return at;
    const lin *start = source_offset(m, q->load, m->tile.origin);
    return lin_add(&m->sp, lin_add(&m->sp, at, start, -1), lin_const(&m->sp, 1), start->c);
}

static int64_t along(emitter *m, const fragment *q, int axis) /* from one element to the next */
{
    return q->handed ? kept_stride(m->k, m->s, q->load, axis) : m->data.source[m->stage.at][q->load].stride[axis];
}

/* From where an earlier stage left it; the tile is given a pointer to that. */
static void find_handed(emitter *m, fragment *q)
{
    q->handed = m->data.source[m->stage.at][q->load].from == FROM_STAGE;
    if (q->handed)
        m->tile.made->loads[q->load] = true;
    q->from = arena_format(m->mem, q->handed ? "x%d" : "c%d", q->handed ? m->tile.made->via[q->load] : q->load);
}

/* Bits within a row of the slice that a sum of terms, none below 0, can have; -1: not known */
static int64_t bits_of(const emitter *m, const lin *a, int64_t row)
{
    int64_t bits = a->c % row;
    for (int i = 0; i < a->n; i++) {
        const int64_t coef = a->t[i].coef;
        int64_t low, high, all = 1;
        if (coef % row == 0)
            continue;
        lin_range(&m->sp, &(lin){.n = 1, .t = &a->t[i]}, &low, &high);
        if (a->t[i].a->kind != A_VAR || coef & (coef - 1) || low < 0)
            return -1;
        while (all <= high / coef)
            all *= 2;
        all = coef * (all - 1) & (row - 1);
        if (bits & all)
            return -1;
        bits |= all;
    }
    return bits;
}

/* A place is what the lane starts from and what loops written out add. Whole periods of the swizzle pass through it,
 * and bits of a row that the start does not have go in by themselves: then only the start need be swizzled. */
static bool put_place(emitter *m, const fragment *q, const lin *at, text *t)
{
    const source *from = &m->data.source[m->stage.at][q->load];
    const int64_t row = INT64_C(1) << from->shift, period = row * (from->mask + 1);
    const lin *more = lin_add(&m->sp, at, q->start, -1), *low = lin_const(&m->sp, 0), *high = low;
    if (!from->mask) {
        text_add(t, "at%d + ", q->load), emit_lin(m, t, more);
        return true;
    }
    for (int i = 0; i < more->n; i++) {
        const lin *one = &(lin){.n = 1, .t = &more->t[i]};
        const lin **part = more->t[i].coef % period ? &low : &high;
        *part = lin_add(&m->sp, *part, one, 1);
    }
    const int64_t own = bits_of(m, q->start, row), added = bits_of(m, low, row);
    int64_t least, most;
    lin_range(&m->sp, low, &least, &most);
    if (more->c || own < 0 || added < 0 || own & added || least < 0 || most >= row)
        return false;
    text_add(t, low->n ? "(at%d ^ (" : "at%d", q->load);
    if (low->n)
        emit_lin(m, t, low), text_add(t, "))");
    if (high->n)
        text_add(t, " + "), emit_lin(m, t, high);
    return true;
}

static void take_one(emitter *m, const fragment *q)
{
    text words = {0}, at = {0}, line = {0};
    const lin *place = place_of(m, q);
    text_add(&words, "%s", q->name), subscripts_of(m, q, false, &words);
    if (!put_place(m, q, place, &at))
        copy_index(m, &m->data.source[m->stage.at][q->load], place, &at);
    form_write(&line, m->out.uses, m->d, q->form->along[q->across].take, (const char *[]){words.s, q->from, at.s});
    code_add(&m->out.code, (stmt){.kind = S_CALL, .value = line.s});
    text_free(&words), text_free(&at), text_free(&line);
}

static void take_fragments(emitter *m, const fragment *q)
{
    const uint32_t own = x_axes_of(m->s->load[q->load]) & ~m->s->folds;
    const lin *inner[MAX_AXIS], *plain[MAX_AXIS];
    text counts = {0};
    int opened = 0;
    memcpy(inner, m->tile.inner, sizeof inner), memcpy(plain, m->tile.plain, sizeof plain);
    subscripts_of(m, q, true, &counts);
    code_let(&m->out.code, m->d->natural[2],
             arena_format(m->mem, "%s%s[%d]", q->name, text_str(&counts), q->form->words), NULL);
    for (int l = nest_unrolled(m->s); l < m->s->nest.n; l++)
        if (is_trip(&m->s->nest.loop[l], own))
            open_trips(m, l, loop_trips(&m->s->nest.loop[l])), opened++;
    take_one(m, q);
    while (opened-- > 0)
        code_close(&m->out.code);
    memcpy(m->tile.inner, inner, sizeof inner), memcpy(m->tile.plain, plain, sizeof plain);
    text_free(&counts);
}

static void multiply(emitter *m, const matrix_form *f, const fragment *q)
{
    text acc = {0}, a = {0}, b = {0}, line = {0};
    int opened = 0;
    for (int l = nest_unrolled(m->s); l < m->s->nest.n; l++)
        if (is_trip(&m->s->nest.loop[l], ~m->s->folds))
            open_trips(m, l, loop_trips(&m->s->nest.loop[l])), opened++;
    emit_sums(m, &acc);
    text_add(&a, "%s", q[0].name), subscripts_of(m, &q[0], false, &a);
    text_add(&b, "%s", q[1].name), subscripts_of(m, &q[1], false, &b);
    form_write(&line, m->out.uses, m->d, f->text, (const char *[]){acc.s, a.s, b.s});
    code_add(&m->out.code, (stmt){.kind = S_CALL, .value = line.s});
    while (opened-- > 0)
        code_close(&m->out.code);
    text_free(&acc), text_free(&a), text_free(&b), text_free(&line);
}

static void take_lanes(emitter *m) /* which trips of the loops over warps are this one's */
{
    for (int l = nest_unrolled(m->s); l < m->s->nest.n; l++) {
        const loop *q = &m->s->nest.loop[l];
        char name[16];
        snprintf(name, sizeof name, "%s_%d", m->s->letter[q->axis], l);
        if (q->role->group)
            lanes_lane(m), step(m, q->axis, lin_var(&m->sp, var_add(&m->sp, name, 0, loop_trips(q) - 1)), q->step);
    }
}

void matrix_body(emitter *m)
{
    unit_loops u;
    const matrix_form *f;
    const lin *inner[MAX_AXIS], *plain[MAX_AXIS];
    fragment q[2];
    const int n_var = m->sp.n;
    const bool some = nest_group(m->s) < m->group;
    int opened = 0;
    if (!matrix_of(m, &u, &f) || !f)
        return;
    memcpy(inner, m->tile.inner, sizeof inner), memcpy(plain, m->tile.plain, sizeof plain);
    code_open(&m->out.code,
              (stmt){.kind = some ? S_IF : S_BLOCK,
                     .divergent = some,
                     .value = arena_format(m->mem, "%s < %lld", lanes_lane(m), (long long)nest_group(m->s))});
    for (int i = 0; i < 2; i++) {
        q[i] = (fragment){.form = i ? &f->b : &f->a,
                          .load = u.load[i],
                          .axis = m->s->nest.loop[u.loop[i]].axis,
                          .folded = m->s->nest.loop[u.loop[2]].axis};
        snprintf(q[i].name, sizeof q[i].name, "f%d", u.load[i]);
        find_handed(m, &q[i]);
        q[i].across = along(m, &q[i], q[i].folded) != 1;
        if (strcmp(q[i].form->along[q[i].across].line, "0"))
            name_form(m, arena_format(m->mem, "line%d", u.load[i]), q[i].form->along[q[i].across].line, "0");
        name_form(m, arena_format(m->mem, "deep%d", u.load[i]), q[i].form->along[q[i].across].deep, "0");
    }
    take_lanes(m);
    for (int i = 0; i < 2; i++) {
        text at = {0};
        char name[16];
        snprintf(name, sizeof name, "line%d", u.load[i]);
        q[i].line = strcmp(q[i].form->along[q[i].across].line, "0")
                        ? lin_var(&m->sp, var_add(&m->sp, name, 0, q[i].across ? 1 : 15))
                        : lin_const(&m->sp, 0);
        snprintf(name, sizeof name, "deep%d", u.load[i]);
        q[i].deep = lin_var(&m->sp, var_add(&m->sp, name, 0, q[i].across ? 15 : 1));
        q[i].start = place_of(m, &q[i]);
        copy_index(m, &m->data.source[m->stage.at][u.load[i]], q[i].start, &at);
        code_let(&m->out.code, arena_format(m->mem, "const %s", m->d->index), arena_format(m->mem, "at%d", u.load[i]),
                 at.s);
        text_free(&at);
    }
    for (int l = nest_unrolled(m->s); l < m->s->nest.n; l++) /* folded ones around all of it */
        if (is_trip(&m->s->nest.loop[l], m->s->folds)) {
            const loop *p = &m->s->nest.loop[l];
            open_trips(m, l, (m->here.cur[p->axis] + p->step - 1) / p->step), opened++;
        }
    take_fragments(m, &q[0]), take_fragments(m, &q[1]);
    multiply(m, f, q);
    while (opened-- > 0)
        code_close(&m->out.code);
    code_close(&m->out.code);
    memcpy(m->tile.inner, inner, sizeof inner), memcpy(m->tile.plain, plain, sizeof plain);
    m->sp.n = n_var;
}
