/* tile.c - the innermost part of a stage: accumulators, the serial folds around them, and what follows the fold.
 *
 * They are loops with constant bounds; those marked @unroll carry pragmas, and the array of accumulators, whose
 * subscripts are constants then, lies in registers. Where the language has vectors, a loop over lanes is one over them
 * (vectors.c). */
#include "backends/codegen/rings.h"
#include "backends/codegen/trips.h"
#include "schedule/plan/extents.h"

#include <stdio.h>
#include <string.h>

/* ---- trips as statements ---- */
static void write_trips(emitter *m, const strip *t);

static void open_loop(emitter *m, const strip *t, const char *name)
{
    const loop *q = trips_loop(m, t);
    m->tile.trips = t->end - t->first;
    if (q->role->group) {
        lanes_enter(m, t->loop, t->first, t->end, t->to);
        return;
    }
    code_open(&m->out.code, (stmt){.kind = S_LOOP,
                                   .how = t->how,
                                   .role = q->role->name,
                                   .stage = m->stage.at,
                                   .depth = loop_depth(m, &m->s->nest, t->loop),
                                   .name = name,
                                   .from = t->from ? t->from : emit_whole(m, t->first),
                                   .to = t->to ? t->to : emit_whole(m, t->end),
                                   .trips = m->tile.trips,
                                   .together = t->together});
}

static void write_loop(emitter *m, const strip *t)
{
    const bool copies = t->ph == BODY && t->loop < nest_unrolled(m->s);
    const char *name = tile_loop(m, t->loop);
    const source *sources = copies ? sources_save(m) : NULL;
    const uint32_t tested = m->tile.tested;
    trips_place was;
    if (t->way == LAST_TRIP)
        m->tile.tested |= 1u << trips_loop(m, t)->axis;
    open_loop(m, t, name);
    trips_enter(m, t, &was);
    if (t->ring)
        ring_trip(m, t->ring, name, !t->ring->count && t->first == t->ring->trips - 1);
    else if (copies)
        copy_enter(m, m->stage.at, false, t->loop);
    write_trips(m, t->in);
    if (t->ring)
        ring_turn(m, t->ring);
    code_close(&m->out.code);
    trips_leave(m, &was);
    m->tile.tested = tested;
    if (copies)
        sources_back(m, sources);
}

static void write_vectors(emitter *m, const strip *t)
{
    const loop *q = trips_loop(m, t);
    trips_place was;
    code_open(&m->out.code, (stmt){.kind = S_LOOP,
                                   .how = t->how,
                                   .role = q->role->name,
                                   .stage = m->stage.at,
                                   .depth = loop_depth(m, &m->s->nest, t->loop),
                                   .name = tile_loop(m, t->loop),
                                   .from = t->from ? t->from : emit_whole(m, t->first),
                                   .to = t->to ? t->to : emit_whole(m, t->end),
                                   .trips = t->end - t->first,
                                   .together = t->together});
    trips_enter(m, t, &was);
    write_trips(m, t->in);
    code_close(&m->out.code);
    trips_leave(m, &was);
}

static void write_first(emitter *m, const strip *t)
{
    m->tile.vectors.each = "0";
    write_trips(m, t->in);
    m->tile.vectors.each = NULL;
}

static void write_ring(emitter *m, const strip *t)
{
    const loop *q = trips_loop(m, t);
    const int64_t scratch = m->data.scratch;
    ring_open(m, t->loop, int_ceil_div(m->here.cur[q->axis], q->step), counted_trips(m, t->loop), t->ring);
    write_trips(m, t->in);
    ring_close(m, t->ring);
    m->data.scratch = scratch;
}

static void write_access(emitter *m, const strip *t)
{
    const loop *q = trips_loop(m, t);
    const char *trip = tile_loop(m, t->loop);
    const bool several = t->ph == BODY && tuple_fold(m);
    const expr *one = several         ? NULL
                      : t->ph == BODY ? m->tile.term
                                      : partial_value(m),
               *const *x = several ? m->stage.fold->arg + m->stage.fold->n_state : &one;
    const bool opened = vector_open(m, q, trip, several ? m->stage.fold->n_state : 1, x,
                                    t->ph == FINISH && !m->stage.outer_fold && !m->s->n_piece && !m->tile.step);
    write_trips(m, t->in);
    if (opened)
        vector_close(m);
}

/* What all of them do to their sums alike takes no test. */
static void write_lanes(emitter *m, const strip *t)
{
    trips_place was;
    const bool one = lanes_to_one(m, t);
    trips_enter(m, t, &was);
    if (one)
        lanes_enter(m, t->loop, 0, 1, NULL);
    write_trips(m, t->in);
    if (one)
        code_close(&m->out.code);
    trips_leave(m, &was);
}

static void write_apart(emitter *m, const strip *t)
{
    const bool one = lanes_one(m);
    if (t->ph == FINISH)
        matrix_finish(m);
    write_trips(m, t->in);
    if (one)
        code_close(&m->out.code);
}

static void write_turn(emitter *m, const strip *t)
{
    const int64_t n = m->tile.vectors.n, end = t->in->end;
    for (int64_t first = t->in->first; first < end; first += n) { /* as many trips as elements of a vector */
        strip some = *t->in;
        some.first = first, some.end = int_min(first + n, end);
        some.together = int_min(some.together, some.end - first);
        turn_open(m, &some);
        write_trips(m, &some);
        turn_close(m, &some);
    }
}

static void write_unit(emitter *m, const strip *t)
{
    trips_place was;
    trips_enter(m, t, &was);
    int opened = matrix_enter(m, t->ph >= CARRY);
    emit_phase(m, t->ph);
    while (opened-- > 0)
        code_close(&m->out.code);
    m->tile.run = m->tile.pair = NULL;
    trips_leave(m, &was);
}

static void write_trips(emitter *m, const strip *t)
{
    for (; t; t = t->next)
        switch (t->kind) {
        case T_LOOP: write_loop(m, t); break;
        case T_RING: write_ring(m, t); break;
        case T_ACCESS: write_access(m, t); break;
        case T_LANES: write_lanes(m, t); break;
        case T_APART: write_apart(m, t); break;
        case T_VECTORS: write_vectors(m, t); break;
        case T_FIRST: write_first(m, t); break;
        case T_DOT: emit_dot(m); break;
        case T_TURN: write_turn(m, t); break;
        case T_UNIT: write_unit(m, t); break;
        case T_PRODUCT: matrix_body(m); break;
        case T_FETCH: emit_fetch(m); break;
        default: emit_phase(m, t->ph); break;
        }
}

static void write_phase(emitter *m, tile_phase ph)
{
    write_trips(m, trips_through(m, trips_of_phase(m, ph), 0, N_TRIPS_PASS));
}

/* An accumulator for each element of the tile, [trips of each loop in registers]: how many */
static int64_t declare_acc(emitter *m, const char *name, const char *own) /* NULL: of what is summed up */
{
    int64_t count = 1, words;
    ENDED_BY(text_free) text dims = {0};
    unit_loops u;
    const matrix_form *form;
    for (int l = nest_unrolled(m->s); l < m->s->nest.n; l++) {
        const loop *q = &m->s->nest.loop[l];
        const bool folded = m->s->folds >> q->axis & 1;
        if ((folded && l != m->stage.lane) || q->role->group || (q->role->unit && q->role->warp))
            continue;
        int64_t have = matrix_sums(m)                    ? q->range
                       : folded                          ? nest_left(m->k, m->s, q->axis, l - 1)
                       : m->here.cur[q->axis] < q->range ? m->here.cur[q->axis]
                                                         : q->range;
        const int64_t step = m->tile.vectors.n && l == nest_last(m->s) ? m->tile.vectors.n : q->step;
        text_add(&dims, "[%lld]", (long long)int_ceil_div(have, step)), count *= int_ceil_div(have, step);
    }
    words = count;
    if (matrix_of(m, &u, &form))
        text_add(&dims, "[%d]", form ? form->sums : 1), words *= form ? form->sums : 1;
    for (int k = 0; k < stage_states(m->s); k++) {
        stmt *s = code_array(&m->out.code, own ? own : tuple_type(m, k),
                             tuple_fold(m) ? arena_format(m->mem, "%s%d", name, k) : name,
                             arena_string(m->mem, text_str(&dims)));
        s->bytes = tuple_bytes(m, k), s->trips = words;
    }
    return count;
}

/* The last place along an axis where the tile may start: its whole extent is inside, or one element if trips are
 * counted. */
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

/* Whether the tile reads here what another stage of the kernel writes, or writes what another stage reads */
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

void argument_add(const emitter *m, arguments *a, const char *of, const char *name, const cexpr *given)
{
    MUST(a->n < MAX_ARGUMENT);
    text_add(&a->declared, "%s%s%s", a->n ? ", " : "", of, name);
    a->name[a->n] = cexpr_spelled(m->mem, name);
    a->of[a->n] = given ? given : a->name[a->n];
    a->n++;
}

void argument_number(const emitter *m, arguments *a, const char *name, const cexpr *given)
{
    argument_add(m, a, arena_format(m->mem, "const %s ", m->d->index), name, given);
}

static void add_pointer(emitter *m, arguments *a, const tile_made *f, int load)
{
    const bool written = load == RESULT, shared = m->d->restricted_for_good && is_handed_on(m, load);
    const dtype d = written ? stored_as(m->p, m->s->node) : source_dtype(m, load);
    argument_add(
        m, a,
        arena_format(m->mem, "%s%s", pointer_type(m, load_reach(m, load), d, written), shared ? "" : m->d->restricted),
        written ? "y" : arena_format(m->mem, "x%d", load), emit_pointer(m, f, load));
}

static const char *map_text(const emitter *m, const char *form, int i) /* of a tensor, that a tile takes */
{
    ENDED_BY(text_free) text t = {0};
    form_write(&t, NULL, m->d, form, (const char *[]){number_text(m, i)});
    return arena_string(m->mem, text_str(&t));
}

/* Of a call of tile f from where loops stand: result, operands, then numbers that only some tiles take. */
static void find_arguments(emitter *m, const tile_made *f, arguments *all)
{
    add_pointer(m, all, f, RESULT);
    for (int i = 0; i < m->s->n_load; i++)
        if (emit_takes(f, i))
            add_pointer(m, all, f, i);
    for (int a = 0; a < m->s->n_axis; a++)
        if (f->passed >> a & 1)
            argument_number(m, all, arena_format(m->mem, "%s_at", m->s->letter[a]), emit_index(m, m->here.axis[a]));
    for (int a = 0; a < m->s->n_axis; a++)
        if (f->counted >> a & 1)
            argument_number(m, all, arena_format(m->mem, "%s_trips", m->s->letter[a]),
                            emit_whole(m, m->here.cur[a] / counted_loop(m, a)->step));
    varying_arguments(m, f, all);
    if (m->stage.carries)
        carry_arguments(m, all, f);
    for (int i = 0; i < 2 && m->stage.outer_fold; i++)
        argument_add(m, all, arena_format(m->mem, "const %s ", m->d->truth), i ? "last" : "first", NULL);
    if (f->prefetch)
        emit_prefetch_arguments(m, all);
    if (f->masked)
        argument_number(m, all, "limit", NULL);
    if (f->scratch)
        argument_add(m, all, arena_format(m->mem, "%schar *", m->d->space[GROUP]), "scratch", NULL);
    for (int i = 0; i < MAX_BOX; i++)
        if (f->boxes >> i & 1)
            argument_add(m, all, "", map_text(m, m->d->box->parameter, i),
                         cexpr_spelled(m->mem, map_text(m, m->d->box->argument, i)));
    if (callees_fault(&f->uses, m->d))
        argument_add(m, all, "", m->d->fault_parameter, cexpr_spelled(m->mem, m->d->fault));
}

static void name_singles(emitter *m, const tile_made *f) /* numbers on their own, before all loops */
{
    for (int i = 0; i < m->s->n_load; i++) {
        const dtype d = source_dtype(m, i);
        if (!f->loads[i] || !emit_single(m, i))
            continue;
        const char *wrap = cstyle_load(m->mem, m->d, m->out.uses, d);
        code_let(&m->out.code, arena_format(m->mem, "const %s", value_type(m->d, d, m->p->reference)),
                 arena_format(m->mem, "s%d", i),
                 cexpr_one(m->mem, wrap,
                           emit_at(m, cexpr_word(m->mem, arena_format(m->mem, "x%d", i)), emit_whole(m, 0), i)));
    }
}

static void close_tile(emitter *m, tile_made *f) /* what is known once its statements are there */
{
    stmt *body = m->out.code.at;
    m->out.code = code_begin(m->mem);
    lanes_declare(m, f);
    name_singles(m, f);
    code_before(body, &m->out.code);
    f->body = body;
}

void print_tile(const emitter *m, const tile_made *f, text *out)
{
    int loads = 0;
    for (int i = 0; i < MAX_LOADS; i++)
        loads += f->loads[i];
    ENDED_BY(text_free) text head = {0};
    m->d->tile(&head, &(tile_head){arena_format(m->mem, "tile%d", f->number), f->declared, loads});
    stmt_lines(out, text_str(&head));
    text_add(out, "{\n");
    out->depth = 1;
    stmt_print(out, m->d, f->body);
    out->depth = 0;
    text_add(out, "}\n\n");
}

/* Computes what follows the sums after storing them: loops over rows of the tile read the sums from memory. */
static void finish_rows(emitter *m)
{
    const expr *whole = m->stage.value, *rest = idioms_value(m, NULL, whole), *step;
    declare_acc(m, "sums", NULL);
    write_phase(m, SPILL);
    m->tile.sums = "sums";
    while ((step = phase_step(m, &rest))) {
        const bool same = m->tile.step || m->stage.fold->dtype == step->dtype;
        if (!same)
            declare_acc(m, "steps", value_spelled(m, step->dtype));
        m->stage.value = step, m->tile.step = same ? m->tile.sums : "steps";
        write_phase(m, FINISH);
        m->tile.sums = m->tile.step;
    }
    m->stage.value = rest, m->tile.step = NULL;
    write_phase(m, FINISH);
    m->stage.value = whole, m->tile.sums = NULL;
}

static bool rows_alike(const emitter *m) /* of vectors of sums, of which nothing but their value is made */
{
    const int l = tile_rows(m);
    return m->stage.fold && m->tile.vectors.n && !(m->s->folds >> m->tile.vectors.axis & 1) && !tuple_fold(m) &&
           !m->stage.outer_fold && !m->stage.carries && !m->s->n_piece && !m->stage.known &&
           role_unrolled(m->s->nest.loop[l].role) && l < nest_last(m->s);
}

/* Finishes the tile. Partial sums are kept in the result between parts. Where loops become straight code, the tests for
 * the first and last part stand around all of it rather than at each element. */
static void finish(emitter *m)
{
    const bool straight = m->tile.vectors.n ? !(m->s->folds >> m->tile.vectors.axis & 1) : m->d->lanes_written_out;
    const bool parts = m->stage.outer_fold && straight && !m->s->n_piece && !m->stage.carries;
    if (!parts) {
        write_phase(m, FINISH);
        return;
    }
    code_if(&m->out.code, cexpr_not(m->mem, cexpr_word(m->mem, "first")));
    write_phase(m, TAKE);
    code_close(&m->out.code);
    stmt *test = code_open(&m->out.code, (stmt){.kind = S_IF, .value = cexpr_word(m->mem, "last")});
    m->stage.outer_fold = false;
    write_phase(m, FINISH);
    m->stage.outer_fold = true;
    code_close(&m->out.code);
    code_else(&m->out.code, test);
    write_phase(m, KEEP);
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
    int64_t sums = 0;
    if (m->stage.fold) {
        sums = declare_acc(m, "acc", NULL);
        write_phase(m, CLEAR);
        const bool tested = bounds_open(m), bare = !tested && nest_tile(m->s) == m->s->nest.n;
        if (bare) /* no loop keeps its names from those of what follows */
            code_open(&m->out.code, (stmt){.kind = S_BLOCK});
        m->tile.tested = ends_always(m);
        boxes_around(m);
        const expr *fold = m->stage.fold; /* its unit adds nothing, however often */
        if (!m->tile.term || !x_same(m->tile.term, x_unit(m->mem, fold->fn, fold->dtype)))
            write_phase(m, BODY);
        boxes_leave(m);
        if (tested || bare)
            code_close(&m->out.code);
        if (m->stage.lane >= 0)
            write_phase(m, MERGE);
        if (lanes_fold(m))
            write_phase(m, GATHER);
    } else
        emit_fetch(m);
    if (m->stage.carries)
        write_phase(m, CARRY);
    const bool waits = stage_keeps_last(m->s);
    if (waits)
        code_if(&m->out.code, cexpr_word(m->mem, "last"));
    if (rows_alike(m) && phase_spills(m, sums))
        finish_rows(m);
    else
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
    trips_place outer;
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
    trips_save(m, &outer);
    m->tile.made = f, m->out.uses = &f->uses;
    do { /* again when a load turned out to be indexed from its start: everywhere, then */
        memcpy(whole, f->whole, sizeof whole);
        m->out.code = code_begin(m->mem), f->uses = (callees){0}, memset(f->loads, 0, sizeof f->loads);
        trips_leave(m, &outer);
        write_body(m, f);
    } while (memcmp(f->whole, whole, sizeof whole) != 0);
    close_tile(m, f);
    m->out.code = was, m->tile.made = NULL, m->out.uses = outer_uses, m->tile.vectors.n = 0;
    callees_add(m->out.uses, &f->uses);
    trips_leave(m, &outer);
    return f;
}

static bool serves(emitter *m, const tile_made *f) /* the extents and, at borders, the place are those it is for */
{
    bool same = f->stage == m->stage.at && f->clipped == m->tile.clipped;
    for (int a = 0; same && a < m->s->n_axis; a++) {
        int64_t low, high;
        same = m->here.cur[a] == f->cur[a] ||
               (f->counted >> a & 1 && m->here.cur[a] < f->cur[a] && m->here.cur[a] % counted_loop(m, a)->step == 0);
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
    tile_made *f = NULL;
    arguments all = {0};
    for (int i = 0; i < m->tiles.n && !f; i++)
        if (serves(m, m->tiles.made[i]))
            f = m->tiles.made[i];
    if (!f && !(f = make_tile(m)))
        return;
    find_arguments(m, f, &all);
    if (!f->declared) { /* it is the first call */
        const cexpr **own = arena_array(m->mem, (size_t)all.n, sizeof *own);
        memcpy(own, all.name, (size_t)all.n * sizeof *own);
        f->parameter = own, f->declared = arena_string(m->mem, text_str(&all.declared));
    }
    text_free(&all.declared);
    code_call(&m->out.code, cexpr_tile(m->mem, f->number, all.n, all.of));
}

void emit_tile(emitter *m, const strip *t)
{
    bool any = true; /* element of the result */
    for (int a = 0; a < m->s->n_result; a++)
        any = any && m->here.cur[a] > 0;
    m->tile.clipped = t->way == TRIPS_LEFT;
    if (any)
        call_tile(m);
    m->tile.clipped = false;
}
