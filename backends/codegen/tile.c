/* tile.c - the innermost part of a stage: accumulators, the serial folds around them, and what follows the fold.
 *
 * They are loops with constant bounds; those marked @unroll carry pragmas, and the array of accumulators, whose
 * subscripts are constants then, lies in registers. Where the language has vectors, a loop over lanes is one over them
 * (vectors.c). */
#include "backends/codegen/ring.h"
#include "schedule/plan/extents.h"

#include <stdio.h>
#include <string.h>

/* ---- loops ---- */
typedef struct saved {
    int64_t cur[MAX_AXIS], scratch;
    const affine *inner[MAX_AXIS], *plain[MAX_AXIS];
} saved;

/* Around a loop: what holds in it must not hold behind it. */
static void save(const emitter *m, saved *s)
{
    memcpy(s->cur, m->here.cur, sizeof s->cur), memcpy(s->inner, m->tile.inner, sizeof s->inner),
        memcpy(s->plain, m->tile.plain, sizeof s->plain);
    s->scratch = m->data.scratch;
}

static void restore(emitter *m, const saved *s)
{
    memcpy(m->here.cur, s->cur, sizeof s->cur), memcpy(m->tile.inner, s->inner, sizeof s->inner),
        memcpy(m->tile.plain, s->plain, sizeof s->plain);
    m->data.scratch = s->scratch;
}

typedef struct span { /* trips of a loop that are written with the same constants */
    int64_t first, end, left;
    trips_way way; /* which of them, where the axis varies */
} span;

/* Full trips, together or apart, and one for the rest. */
static int spans_of(emitter *m, int l, phase ph, span out[MAX_APART + 1])
{
    const loop *q = &m->s->nest.loop[l];
    const int64_t left = m->here.cur[q->axis], full = left / q->step, rest = left % q->step;
    const bool cut = ph == BODY && m->tile.apart >> l & 1, known = ph != BODY && m->stage.known >> l & 1;
    int n = 0;
    if (full && !cut && !known)
        out[n++] = (span){0, full, q->step, EVERY_TRIP};
    for (int64_t i = 0; (cut || known) && i < full; i++)
        if (i && cut && bounds_alike(m, l, i - 1))
            out[n - 1].end = i + 1;
        else
            out[n++] = (span){i, i + 1, q->step, EVERY_TRIP};
    if (rest)
        out[n++] = (span){full, full + 1, rest, EVERY_TRIP};
    return n;
}

/* Without sums nothing stays in registers from trip to trip. */
static int64_t written_out(const emitter *m, int64_t trips)
{
    const int64_t most = m->stage.fold ? 0 : m->d->unroll_most;
    return most && trips > most ? most : trips;
}

/* The first loop over axis a in the tile, if it is serial: what loops outside clip makes fewer trips of it. */
static const loop *counting(const emitter *m, int a)
{
    for (int l = nest_tile(m->s); l < m->s->nest.n; l++)
        if (m->s->nest.loop[l].axis == a)
            return m->s->nest.loop[l].role->serial && !mask_bounds(m, l) ? &m->s->nest.loop[l] : NULL;
    return NULL;
}

/* Folded axes of which some trips of the loops outside have less, in whole trips of the tile's loop: that is the same
 * tile, told how many. */
static uint32_t counted_axes(const emitter *m)
{
    uint32_t axes = 0;
    for (int l = 0; l < nest_tile(m->s); l++) {
        const loop *q = &m->s->nest.loop[l], *in = counting(m, q->axis);
        const int64_t rest = nest_left(m->k, m->s, q->axis, l - 1) % q->step;
        if (m->s->folds >> q->axis & 1 && in && rest && rest % in->step == 0 && q->step % in->step == 0 &&
            !varying_axis(m, q->axis))
            axes |= 1u << q->axis;
    }
    for (int i = 0; i < m->bounds.n; i++)
        axes &= ~(m->bounds.split[i].place ? x_axes(m->bounds.split[i].place) : 0);
    for (int a = 0; a < m->s->n_axis; a++)
        if (axes >> a & 1 && m->here.cur[a] % counting(m, a)->step)
            axes &= ~(1u << a);
    return axes;
}

static opening opening_of(const emitter *m, const loop *q, phase ph)
{
    const opening how = role_opening(q->role, ph != MERGE);
    return how == IN_LANES && m->stage.fold && m->d->lanes_written_out ? WRITTEN_OUT : how;
}

/* Opens loop l over some of its trips; false when none of them counts. */
static bool enter(emitter *m, int l, const span *s, phase ph)
{
    const loop *q = &m->s->nest.loop[l];
    int64_t first = s->first, end = s->end;
    const cexpr *from = emit_whole(m, first), *to = emit_whole(m, end);
    char name[16];
    snprintf(name, sizeof name, "%s_%d", m->s->letter[q->axis], l);
    bool moves = ph == BODY && bounds_loop(m, l, &first, &end, &from, &to);
    if (mask_bounds(m, l)) {
        from = emit_whole(m, first), to = mask_end(m, l, end);
        moves = m->tile.made->masked = true;
    }
    if (m->tile.made->counted >> q->axis & 1 && q == counting(m, q->axis)) {
        from = emit_whole(m, 0), to = cexpr_word(m->mem, arena_format(m->mem, "%s_trips", m->s->letter[q->axis]));
        moves = true;
    }
    if (s->way) {
        moves = true;
        varying_bounds(m, l, s->way, &from, &to);
    }
    if (first < end && q->role->group) {
        lanes_enter(m, l, first, end, moves ? to : NULL);
    } else if (first < end) {
        const bool one = q->role->serial && matrix_sum(m); /* written out as far as the nest says */
        code_open(&m->out.code, (stmt){.kind = S_LOOP,
                                       .how = one ? WRITTEN_OUT : opening_of(m, q, ph),
                                       .role = q->role->name,
                                       .name = name,
                                       .from = from,
                                       .to = to,
                                       .trips = end - first,
                                       .together = one ? 1 : written_out(m, end - first)});
    }
    m->tile.trips = end - first;
    if (first >= end)
        return false;
    const affine *at = affine_var(&m->sp, var_add(&m->sp, name, first, end - 1));
    m->tile.inner[q->axis] = affine_add(&m->sp, m->tile.inner[q->axis], at, q->step);
    m->tile.plain[q->axis] = affine_add(&m->sp, m->tile.plain[q->axis], at, q->step);
    m->here.cur[q->axis] = s->left;
    return true;
}

static void register_loops(emitter *m, int l, phase ph);

static bool turns_alike(const emitter *m, int l) /* one trip of it after the other, none of them left out */
{
    bool alike = !(m->tile.apart >> l & 1) && !mask_bounds(m, l);
    for (int i = 0; i < m->bounds.n; i++)
        alike = alike && !(m->bounds.split[i].done && m->bounds.split[i].last == l);
    return alike;
}

static bool open_vector(emitter *m, int l, phase ph)
{
    const loop *q = &m->s->nest.loop[l];
    const bool all = ph == BODY ? turns_alike(m, l) : ph == FINISH && !mask_bounds(m, l);
    if (!q->role->lanes || q->step > 1 || !all)
        return false;
    const char *trip = arena_format(m->mem, "%s_%d", m->s->letter[q->axis], l);
    if (ph == BODY && tuple_fold(m))
        return vector_open(m, q, trip, m->stage.fold->n_state, m->stage.fold->arg + m->stage.fold->n_state, false);
    const expr *x = ph == BODY ? m->tile.term : partial_value(m);
    return vector_open(m, q, trip, 1, &x, ph == FINISH && !m->stage.outer_fold && !m->s->n_piece);
}

/* A loop whose trips lie in different lanes. What all of them do to their sums alike takes no test. */
static void lane_loop(emitter *m, int l, phase ph)
{
    const loop *q = &m->s->nest.loop[l];
    const bool folded = m->s->folds >> q->axis & 1, one = folded && ph == FINISH;
    saved was;
    save(m, &was);
    if (one)
        lanes_enter(m, l, 0, 1, NULL);
    else if (q->step < m->here.cur[q->axis])
        m->here.cur[q->axis] = q->step;
    register_loops(m, l + 1, ph);
    if (one)
        code_close(&m->out.code);
    restore(m, &was);
}

static void register_loops(emitter *m, int l, phase ph)
{
    if (l == m->s->nest.n) {
        emit_phase(m, ph);
        return;
    }
    const loop *q = &m->s->nest.loop[l];
    const bool folded = m->s->folds >> q->axis & 1;
    if (m->tile.vectors.n && l == nest_last(m->s)) {
        vectors_loop(m, ph);
        return;
    }
    if (q->role->unit && q->role->warp) { /* nothing else is inside */
        saved was;
        save(m, &was);
        int opened = matrix_enter(m, ph >= CARRY);
        emit_phase(m, ph);
        while (opened-- > 0)
            code_close(&m->out.code);
        m->tile.run = m->tile.pair = NULL;
        restore(m, &was);
        return;
    }
    if (q->role->group && ph != BODY && !(ph >= CARRY && !folded)) {
        lane_loop(m, l, ph);
        return;
    }
    if (folded && ph != BODY && !(ph == CLEAR && l == m->stage.lane)) {
        register_loops(m, l + 1, ph);
        return;
    }
    saved all;
    span spans[MAX_APART + 1];
    save(m, &all);
    if (ph == CLEAR && (folded || matrix_sum(m))) /* all lanes, clipped trips too */
        m->here.cur[q->axis] = nest_left(m->k, m->s, q->axis, l - 1);
    const bool vector = open_vector(m, l, ph);
    const int n = spans_of(m, l, ph, spans);
    for (int i = 0; i < n; i++) {
        saved was;
        save(m, &was);
        if (varying_row(m, l, spans[i].end - spans[i].first))
            spans[i].way = VECTORS_LEFT;
        if (enter(m, l, &spans[i], ph)) {
            register_loops(m, l + 1, ph);
            code_close(&m->out.code);
        }
        restore(m, &was);
    }
    if (vector)
        vector_close(m);
    restore(m, &all);
}

static void apart_loops(emitter *m, phase ph) /* what lanes do apart */
{
    unit_loops u;
    const matrix_form *form;
    if (ph == BODY && matrix_of(m, &u, &form)) {
        matrix_body(m);
        return;
    }
    const bool one = lanes_one(m);
    if (ph == FINISH)
        matrix_finish(m);
    register_loops(m, nest_unrolled(m->s), ph);
    if (one)
        code_close(&m->out.code);
}

static bool begin_ring(emitter *m, int l, ring *r)
{
    const loop *q = &m->s->nest.loop[l];
    const bool counted = m->tile.made->counted >> q->axis & 1 && q == counting(m, q->axis);
    const int64_t left = m->here.cur[q->axis];
    return turns_alike(m, l) && ring_open(m, l, (left + q->step - 1) / q->step,
                                          counted ? arena_format(m->mem, "%s_trips", m->s->letter[q->axis]) : NULL, r);
}

static void fold_loops(emitter *m, int l, int unrolled)
{
    if (l == unrolled) {
        emit_fetch(m);
        apart_loops(m, BODY);
        return;
    }
    span spans[MAX_APART + 1];
    const size_t n_source = (size_t)m->s->n_load;
    source *sources = m->data.source[m->stage.at], *outside = arena_array(m->mem, n_source + 1, sizeof *outside);
    ring r;
    saved all;
    save(m, &all);
    memcpy(outside, sources, n_source * sizeof *outside);
    const bool rings = begin_ring(m, l, &r);
    const int n = spans_of(m, l, BODY, spans);
    const uint32_t tested = m->tile.tested;
    trips_way way[2];
    for (int i = 0; i < n; i++)
        for (int k = 0, ways = varying_ways(m, l, spans[i].left, way); k < ways; k++) {
            saved was;
            save(m, &was);
            spans[i].way = way[k];
            if (way[k] == LAST_TRIP)
                m->tile.tested |= 1u << m->s->nest.loop[l].axis;
            if (enter(m, l, &spans[i], BODY)) {
                if (rings)
                    ring_trip(m, &r, arena_format(m->mem, "%s_%d", m->s->letter[m->s->nest.loop[l].axis], l),
                              !r.count && spans[i].first == r.trips - 1);
                else
                    copy_enter(m, m->stage.at, false, l);
                fold_loops(m, l + 1, unrolled);
                if (rings)
                    ring_turn(m, &r);
                code_close(&m->out.code);
            }
            m->tile.tested = tested;
            restore(m, &was);
            memcpy(sources, outside, n_source * sizeof *outside);
        }
    if (rings)
        ring_close(m, &r);
    restore(m, &all);
}

/* An accumulator for each element of the tile, [trips of each loop in registers]. */
static void declare_acc(emitter *m)
{
    text dims = {0};
    unit_loops u;
    const matrix_form *form;
    for (int l = nest_unrolled(m->s); l < m->s->nest.n; l++) {
        const loop *q = &m->s->nest.loop[l];
        const bool folded = m->s->folds >> q->axis & 1;
        if ((folded && l != m->stage.lane) || q->role->group || (q->role->unit && q->role->warp))
            continue;
        int64_t have = matrix_sum(m)                     ? q->range
                       : folded                          ? nest_left(m->k, m->s, q->axis, l - 1)
                       : m->here.cur[q->axis] < q->range ? m->here.cur[q->axis]
                                                         : q->range;
        const bool vectors = m->tile.vectors.n && l == nest_last(m->s);
        text_add(&dims, "[%lld]", (long long)(vectors ? vectors_of(m) : (have + q->step - 1) / q->step));
    }
    if (matrix_of(m, &u, &form))
        text_add(&dims, "[%d]", form ? form->sums : 1);
    for (int k = 0; k < stage_states(m->s); k++)
        code_let(&m->out.code, tuple_type(m, k),
                 tuple_fold(m) ? arena_format(m->mem, "acc%d%s", k, text_str(&dims))
                               : arena_format(m->mem, "acc%s", text_str(&dims)),
                 NULL);
    text_free(&dims);
}

/* Where along an axis it starts at most: all that is left of that is inside, or some where it is told how much. */
static int64_t last_start(const emitter *m, const tile_made *f, int a)
{
    const int64_t own = f->counted >> a & 1 ? 1 : m->here.cur[a], last = m->s->extent[a] - own;
    return last > 0 ? last : 0;
}

/* Where the tile starts: a symbol for each axis, times what every loop outside advances it by a multiple of; a number
 * where a border has a tile of its own. */
static void start_symbols(emitter *m, tile_made *f)
{
    const int tile = nest_tile(m->s);
    for (int a = 0; a < m->s->n_axis; a++) {
        int64_t step = 0;
        char name[16];
        for (int i = 0; a < m->s->n_shared && i < m->k->shared.n; i++)
            if (m->k->shared.loop[i].axis == a)
                step = int_gcd(m->k->shared.loop[i].step, step);
        for (int l = 0; l < tile; l++)
            if (m->s->nest.loop[l].axis == a)
                step = int_gcd(m->s->nest.loop[l].step, step);
        m->tile.origin[a] = m->tile.inner[a] = m->tile.plain[a] = affine_const(&m->sp, 0);
        if (!step)
            continue;
        f->low[a] = 0, f->high[a] = last_start(m, f, a);
        if (m->stage.peeled >> a & 1)
            affine_range(&m->sp, m->here.axis[a], &f->low[a], &f->high[a]);
        if (f->low[a] == f->high[a]) {
            m->tile.origin[a] = m->tile.inner[a] = m->tile.plain[a] = affine_const(&m->sp, f->low[a]);
            continue;
        }
        snprintf(name, sizeof name, "@%s", m->s->letter[a]);
        m->tile.origin[a] = m->tile.inner[a] = affine_scale(
            &m->sp, affine_var(&m->sp, var_add(&m->sp, name, 0, last_start(m, f, a) / step)), step);
        snprintf(name, sizeof name, "%s_at", m->s->letter[a]);
        m->tile.plain[a] = affine_var(&m->sp, var_add(&m->sp, name, f->low[a], f->high[a]));
    }
}

static bool stage_reads(const stage *s, const node *n)
{
    bool any = false;
    for (int i = 0; i < s->n_load && !any; i++)
        any = s->load[i]->from == n;
    return any;
}

/* One stage of the kernel writes what the tile reads there, or reads what the tile writes. */
static bool is_handed_on(const emitter *m, int load)
{
    const node *n = load == RESULT ? m->s->node : m->s->load[load]->from;
    bool any = load != RESULT && m->data.source[m->stage.at][load].from != FROM_MEMORY;
    for (int i = 0; i < m->k->n_stage && !any; i++) {
        const stage *s = &m->k->stage[i];
        any = load == RESULT ? stage_reads(s, n) || m->s->over : s->node == n || s->over == n;
    }
    return any;
}

static void add_pointer(emitter *m, text *t, int load, bool written)
{
    const dtype d = written ? stored_as(m->p, m->s->node) : source_dtype(m, load);
    const bool shared = m->d->restricted_for_good && is_handed_on(m, load);
    text_add(t, "%s%s", pointer_type(m, load_reach(m, load), d, written), shared ? "" : m->d->restricted);
    text_add(t, written ? "y" : "x%d", load);
}

static void add_maps(const emitter *m, const tile_made *f, const char *form, text *t) /* of tensors, that it takes */
{
    for (int i = 0; i < MAX_BOX; i++)
        if (f->boxes >> i & 1)
            text_add(t, ", "), form_write(t, NULL, m->d, form, (const char *[]){number_text(m, i)});
}

/* Result, operands, then numbers that only some tiles take; call_tile gives them in the same order. */
static const char *parameters(emitter *m, const tile_made *f)
{
    text all = {0};
    add_pointer(m, &all, RESULT, true);
    for (int i = 0; i < m->s->n_load; i++)
        if (emit_takes(f, i))
            text_add(&all, ", "), add_pointer(m, &all, i, false);
    for (int a = 0; a < m->s->n_axis; a++)
        if (f->passed >> a & 1)
            text_add(&all, ", const %s %s_at", m->d->index, m->s->letter[a]);
    for (int a = 0; a < m->s->n_axis; a++)
        if (f->counted >> a & 1)
            text_add(&all, ", const %s %s_trips", m->d->index, m->s->letter[a]);
    varying_parameters(m, f, &all);
    if (m->stage.carries)
        carry_parameters(m, &all);
    if (m->stage.outer_fold)
        text_add(&all, ", const %s first, const %s last", m->d->truth, m->d->truth);
    if (f->prefetch)
        emit_prefetch_parameters(m, &all);
    if (f->masked)
        text_add(&all, ", const %s limit", m->d->index);
    if (f->scratch)
        text_add(&all, ", %schar *scratch", m->d->space[GROUP]);
    add_maps(m, f, m->d->box ? m->d->box->parameter : NULL, &all);
    if (callees_fault(&f->uses, m->d))
        text_add(&all, ", %s", m->d->fault_parameter);
    return code_keep(&m->out.code, &all);
}

static void name_singles(emitter *m, const tile_made *f) /* numbers on their own, before all loops */
{
    for (int i = 0; i < m->s->n_load; i++) {
        const dtype d = source_dtype(m, i);
        if (!f->loads[i] || !emit_single(m, i))
            continue;
        const char *wrap = cstyle_load(m->mem, m->d, m->out.uses, d);
        code_let(
            &m->out.code, arena_format(m->mem, "const %s", value_type(m->d, d, m->p->reference)),
            arena_format(m->mem, "s%d", i),
            cexpr_one(m->mem, wrap, cexpr_element(m->mem, arena_format(m->mem, "x%d", i), cexpr_word(m->mem, "0"), i)));
    }
}

static void close_tile(emitter *m, tile_made *f) /* what is known once its statements are there */
{
    stmt *body = m->out.code.at;
    m->out.code = code_begin(m->mem);
    lanes_declare(m, f);
    name_singles(m, f);
    code_before(body, &m->out.code);
    f->body = body, f->parameters = parameters(m, f);
}

void print_tile(const emitter *m, const tile_made *f, text *out)
{
    int loads = 0;
    for (int i = 0; i < MAX_LOADS; i++)
        loads += f->loads[i];
    text head = {0};
    m->d->tile(&head, &(tile_head){arena_format(m->mem, "tile%d", f->number), f->parameters, loads});
    stmt_lines(out, text_str(&head));
    text_free(&head);
    text_add(out, "{\n");
    out->depth = 1;
    stmt_print(out, m->d, f->body);
    out->depth = 0;
    text_add(out, "}\n\n");
}

/* Partial sums wait in the result. Where loops are to become straight code, tests stand around all of them. */
static void finish(emitter *m)
{
    const bool straight = m->tile.vectors.n ? !(m->s->folds >> m->tile.vectors.axis & 1) : m->d->lanes_written_out;
    const bool parts = m->stage.outer_fold && straight && !m->s->n_piece && !m->stage.carries;
    if (!parts) {
        apart_loops(m, FINISH);
        return;
    }
    code_if(&m->out.code, cexpr_word(m->mem, "!first"));
    apart_loops(m, TAKE);
    code_close(&m->out.code);
    stmt *test = code_open(&m->out.code, (stmt){.kind = S_IF, .value = cexpr_word(m->mem, "last")});
    m->stage.outer_fold = false;
    apart_loops(m, FINISH);
    m->stage.outer_fold = true;
    code_close(&m->out.code);
    code_else(&m->out.code, test);
    apart_loops(m, KEEP);
    code_close(&m->out.code);
}

/* Clear, fold, merge lanes, finish: the tile's text from top to bottom. */
static void write_body(emitter *m, tile_made *f)
{
    start_symbols(m, f);
    bounds_tile(m);
    for (int i = 0; i < m->s->n_load; i++)
        f->c[i] = source_offset(m, i, m->tile.inner)->c;
    f->c[RESULT] = store_offset(m, m->tile.inner)->c;
    f->c[STATES] = m->stage.carries ? state_offset(m, m->tile.inner)->c : 0;
    emit_starts(m, f);
    vectors_find(m);
    if (m->stage.fold) {
        declare_acc(m);
        register_loops(m, nest_unrolled(m->s), CLEAR);
        const bool tested = bounds_open(m), bare = !tested && nest_tile(m->s) == m->s->nest.n;
        if (bare) /* no loop keeps its names from those of what follows */
            code_open(&m->out.code, (stmt){.kind = S_BLOCK});
        m->tile.tested = varying_always(m);
        boxes_around(m);
        const expr *fold = m->stage.fold; /* its unit adds nothing, however often */
        if (!m->tile.term || !x_same(m->tile.term, x_unit(m->mem, fold->fn, fold->dtype)))
            fold_loops(m, nest_tile(m->s), nest_unrolled(m->s));
        boxes_leave(m);
        if (tested || bare)
            code_close(&m->out.code);
        if (m->stage.lane >= 0)
            register_loops(m, nest_unrolled(m->s), MERGE);
        if (lanes_fold(m))
            register_loops(m, nest_unrolled(m->s), GATHER);
    } else
        emit_fetch(m);
    if (m->stage.carries)
        apart_loops(m, CARRY);
    const bool waits = stage_keeps_last(m->s);
    if (waits)
        code_if(&m->out.code, cexpr_word(m->mem, "last"));
    finish(m);
    if (waits)
        code_close(&m->out.code);
}

/* NULL with m->e where there are too many. */
static tile_made *make_tile(emitter *m)
{
    tile_made *f;
    const code was = m->out.code;
    callees *outer_uses = m->out.uses;
    saved outer;
    const int n_var = m->sp.n;
    bool whole[COUNT(f->whole)];
    if (m->tiles.n == MAX_TILE) {
        err_set(m->e, TS_UNSUPPORTED,
                "%d shapes of tile or more in one kernel, at most %d expected: choose steps that divide the extents",
                MAX_TILE + 1, MAX_TILE);
        return NULL;
    }
    f = m->tiles.made[m->tiles.n] = arena_get(m->mem, sizeof *f);
    *f = (tile_made){
        .stage = m->stage.at, .number = m->tiles.n++, .counted = counted_axes(m), .clipped = m->tile.clipped};
    memcpy(f->cur, m->here.cur, sizeof f->cur);
    save(m, &outer);
    m->tile.made = f, m->out.uses = &f->uses;
    do { /* again when a load turned out to be indexed from its start: everywhere, then */
        memcpy(whole, f->whole, sizeof whole), m->sp.n = n_var;
        m->out.code = code_begin(m->mem), f->uses = (callees){0}, memset(f->loads, 0, sizeof f->loads);
        restore(m, &outer);
        write_body(m, f);
    } while (memcmp(f->whole, whole, sizeof whole) != 0);
    close_tile(m, f);
    m->out.code = was, m->tile.made = NULL, m->sp.n = n_var, m->out.uses = outer_uses;
    callees_add(m->out.uses, &f->uses);
    restore(m, &outer);
    return f;
}

static bool serves(emitter *m, const tile_made *f) /* the extents and, at borders, the place are those it is for */
{
    bool same = f->stage == m->stage.at && f->clipped == m->tile.clipped;
    for (int a = 0; same && a < m->s->n_axis; a++) {
        int64_t low, high;
        same = m->here.cur[a] == f->cur[a] ||
               (f->counted >> a & 1 && m->here.cur[a] < f->cur[a] && m->here.cur[a] % counting(m, a)->step == 0);
        if (!(m->stage.peeled >> a & 1))
            continue;
        affine_range(&m->sp, m->here.axis[a], &low, &high);
        same = same && low == f->low[a] && high == f->high[a];
    }
    return same;
}

/* One function serves all places with the same extents; it is made where the first of them is met. */
static void call_tile(emitter *m)
{
    const tile_made *f = NULL;
    text call = {0};
    for (int i = 0; i < m->tiles.n && !f; i++)
        if (serves(m, m->tiles.made[i]))
            f = m->tiles.made[i];
    if (!f && !(f = make_tile(m)))
        return;
    text_add(&call, "tile%d(", f->number);
    emit_pointer(m, &call, f, RESULT);
    for (int i = 0; i < m->s->n_load; i++)
        if (emit_takes(f, i))
            text_add(&call, ", "), emit_pointer(m, &call, f, i);
    for (int a = 0; a < m->s->n_axis; a++)
        if (f->passed >> a & 1)
            text_add(&call, ", "), emit_affine(m, &call, m->here.axis[a]);
    for (int a = 0; a < m->s->n_axis; a++)
        if (f->counted >> a & 1)
            text_add(&call, ", %lld", (long long)(m->here.cur[a] / counting(m, a)->step));
    varying_arguments(m, f, &call);
    if (m->stage.carries)
        carry_arguments(m, &call, f);
    if (m->stage.outer_fold)
        text_add(&call, ", first, last");
    if (f->prefetch)
        emit_prefetch_arguments(m, &call);
    if (f->masked)
        text_add(&call, ", limit");
    if (f->scratch)
        text_add(&call, ", scratch");
    add_maps(m, f, m->d->box ? m->d->box->argument : NULL, &call);
    if (callees_fault(&f->uses, m->d))
        text_add(&call, ", %s", m->d->fault);
    text_add(&call, ")");
    code_call(&m->out.code, cexpr_tile(m->mem, call.s, f->number));
    text_free(&call);
}

static void call_clipped(emitter *m) /* or whole, as there is enough of the axes that are summed up */
{
    if (!stage_exact(m->s)) {
        call_tile(m);
        return;
    }
    const cexpr *full = varying_full(m);
    stmt *test = full ? code_open(&m->out.code, (stmt){.kind = S_IF, .value = full}) : NULL;
    if (full) {
        call_tile(m);
        code_close(&m->out.code);
        code_else(&m->out.code, test);
    }
    m->tile.clipped = true;
    call_tile(m);
    m->tile.clipped = false;
    if (full)
        code_close(&m->out.code);
}

/* Along varying axes of the result from `axis` on: half a tile, or a quarter, where that is all that is left. */
static void call_halves(emitter *m, int axis)
{
    int64_t half = 0;
    while (axis < m->s->n_result && !(half = varying_half(m, axis)))
        axis++;
    if (axis >= m->s->n_result) {
        call_clipped(m);
        return;
    }
    const int64_t all = m->here.cur[axis];
    stmt *test = code_open(&m->out.code, (stmt){.kind = S_IF, .value = varying_more(m, axis, half)});
    call_halves(m, axis + 1);
    code_close(&m->out.code);
    code_else(&m->out.code, test);
    m->here.cur[axis] = half;
    call_halves(m, axis);
    m->here.cur[axis] = all;
    code_close(&m->out.code);
}

void emit_tile(emitter *m)
{
    bool any = true; /* element of the result */
    for (int a = 0; a < m->s->n_result; a++)
        any = any && m->here.cur[a] > 0;
    if (any)
        call_halves(m, 0);
}
