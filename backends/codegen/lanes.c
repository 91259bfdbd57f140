/* lanes.c - a part that is a group of lanes. All lanes of a group run the same kernel and call the same tiles; loops of
 * the tile whose role says so have each trip in another lane: their variables are digits of the lane's number, of which
 * the innermost such loop's changes fastest, so that neighbours in memory are touched by neighbouring lanes. Whatever
 * lanes do apart stands under tests of these digits, and no barrier stands under such a test. What is folded along such
 * a loop is summed by each lane for itself, and then in halves, always in the same order: by registers of the lanes of
 * a warp where the target has that, else through scratch. */
#include "backends/codegen/trips.h"
#include "schedule/nest/kept.h"

static bool over_lanes(const loop *q)
{
    return q->role->group;
}

static int64_t trips_of(const loop *q) /* an axis of no elements has none, and nothing is done then */
{
    return int_max(loop_trips(q), 1);
}

/* ---- the group ---- */
static int64_t sums_bytes(const emitter *m) /* of one value of each lane, as wide as any */
{
    return target_aligned(m->p->on, m->group * ts_dtype_bytes(TS_F64));
}

void lanes_fit(emitter *m)
{
    const memory_space *in = target_group_space(m->p->on);
    m->group = m->d->lane ? int_max(m->of.lanes, nest_group_lanes(m->p, m->k)) : 1;
    m->data.room = m->d->lane && in && in->bytes ? in->bytes : 0;
    m->data.besides = m->data.room ? kept_besides(m->p, m->k, m->group) : 0;
}

bool lanes_check(emitter *m)
{
    if (!m->data.room || m->data.scratch_most <= m->data.room)
        return true;
    err_set(m->e, TS_UNSUPPORTED, "%s: a group needs %lld bytes of scratch, %s has %lld for one", m->k->op,
            (long long)m->data.scratch_most, m->p->on->model, (long long)m->data.room);
    return err_hint(m->e, "copy operands in smaller steps, or give a group fewer lanes");
}

/* ---- digits ---- */
static int64_t inner_lanes(const emitter *m, int l) /* of one trip of loop l */
{
    return nest_lanes_under(m->s, l);
}

/* Numbers that the digit of loop l has: of the outermost such loop as many as the group has lanes for. */
static int64_t numbers_of(const emitter *m, int l, bool *first)
{
    const int64_t inner = inner_lanes(m, l);
    int outer = l - 1;
    while (outer >= nest_unrolled(m->s) && !over_lanes(&m->s->nest.loop[outer]))
        outer--;
    *first = outer < nest_unrolled(m->s);
    return ((*first ? m->group : inner_lanes(m, outer)) + inner - 1) / inner;
}

const cexpr *lanes_lane(emitter *m)
{
    if (m->group == 1)
        return emit_whole(m, 0);
    *(m->tile.made ? &m->tile.made->lanes : &m->out.lanes) = true;
    return cexpr_word(m->mem, "lane");
}

void lanes_declare(emitter *m, const tile_made *f)
{
    const char *of = arena_format(m->mem, "const %s", m->d->index);
    if (f ? !f->lanes : !m->out.lanes)
        return;
    code_let(&m->out.code, of, "lane", cexpr_spelled(m->mem, m->d->lane));
    for (int l = nest_unrolled(m->s); f && l < m->s->nest.n; l++) {
        const loop *q = &m->s->nest.loop[l];
        const int64_t inner = inner_lanes(m, l);
        bool first;
        if (!over_lanes(q))
            continue;
        const int64_t all = numbers_of(m, l, &first);
        const cexpr *own = cexpr_floor(m->mem, cexpr_word(m->mem, "lane"), inner, false);
        if (!first) /* those beyond the stage's lanes have no trip of the outermost one */
            own = cexpr_whole(m->mem, W_REST, own, emit_whole(m, all));
        stmt *s = code_let(&m->out.code, of, tile_loop(m, l), own);
        s->stage = m->stage.at, s->depth = loop_depth(m, &m->s->nest, l), s->to = emit_whole(m, all);
    }
}

void lanes_head(emitter *m)
{
    const code body = m->out.code;
    m->out.code = code_begin(m->mem);
    lanes_declare(m, NULL);
    code_before(body.at, &m->out.code);
    m->out.code = body;
}

static void open_test(emitter *m, const cexpr *value)
{
    code_open(&m->out.code, (stmt){.kind = value ? S_IF : S_BLOCK, .value = value, .divergent = value});
}

static const cexpr *compared(emitter *m, const cexpr *x, whole_op how, int64_t with)
{
    return cexpr_whole(m->mem, how, x, emit_whole(m, with));
}

void lanes_enter(emitter *m, int l, int64_t first, int64_t end, const cexpr *to)
{
    bool outermost;
    const int64_t all = numbers_of(m, l, &outermost);
    const cexpr *own = tile_trip(m, l), *test = NULL;
    lanes_lane(m);
    if (to)
        test = cexpr_whole(m->mem, W_LESS, own, to);
    else if (end == first + 1 && all > 1)
        test = compared(m, own, W_SAME, first), first = 0;
    else if (end < all)
        test = compared(m, own, W_LESS, end);
    if (first > 0)
        test = cexpr_both(m->mem, test, compared(m, own, W_LEAST, first));
    open_test(m, test);
}

bool lanes_one(emitter *m)
{
    const int64_t lanes = nest_group(m->s);
    for (int l = nest_unrolled(m->s); l < m->s->nest.n; l++)
        if (over_lanes(&m->s->nest.loop[l]))
            return false;
    if (m->group == lanes)
        return false;
    open_test(m, lanes == 1 ? compared(m, lanes_lane(m), W_SAME, 0) : compared(m, lanes_lane(m), W_LESS, lanes));
    return true;
}

/* ---- sums of several lanes ---- */
bool lanes_fold(const emitter *m)
{
    bool any = false;
    for (int l = nest_unrolled(m->s); l < m->s->nest.n; l++)
        any = any || (over_lanes(&m->s->nest.loop[l]) && m->s->folds >> m->s->nest.loop[l].axis & 1 &&
                      loop_trips(&m->s->nest.loop[l]) > 1);
    return any;
}

static void meet(emitter *m)
{
    code_add(&m->out.code, (stmt){.kind = S_BARRIER});
}

static const cexpr *sums_at(emitter *m, int k, const cexpr *place) /* sums[place], or sums0[place], ... of several */
{
    const char *sums = tuple_fold(m) ? arena_format(m->mem, "sums%d", k) : "sums";
    cexpr *x = (cexpr *)cexpr_element(m->mem, sums, place, IN_REGISTERS);
    x->bytes = ts_dtype_bytes((tuple_fold(m) ? m->stage.fold->arg[k] : m->stage.fold)->dtype), x->shared = true;
    x->stage = m->stage.at;
    return x;
}

/* The lane's own sums become what they are together with others', which `with` has at `at`. */
static void take_in(emitter *m, const cexpr *(*with)(emitter *m, int k, const cexpr *at), const cexpr *at)
{
    if (tuple_fold(m)) {
        tuple_merge(m, tuple_first, with, at);
        return;
    }
    const cexpr *acc = tuple_acc(m, 0, emit_whole(m, 0));
    code_store(&m->out.code, acc, value_combined(m, acc, with(m, 0, at)));
}

static void put_sums(emitter *m) /* into memory, for others */
{
    for (int k = 0; k < stage_states(m->s); k++)
        code_store(&m->out.code, sums_at(m, k, lanes_lane(m)), tuple_acc(m, k, emit_whole(m, 0)));
}

static void open_half(emitter *m, int l, int64_t takes) /* of the lanes that differ in the digit of loop l alone */
{
    const cexpr *test = compared(m, tile_trip(m, l), W_LESS, takes);
    if (nest_group(m->s) < m->group)
        test = cexpr_both(m->mem, test, compared(m, lanes_lane(m), W_LESS, nest_group(m->s)));
    open_test(m, test);
}

static const cexpr *other_at(emitter *m, int k, const cexpr *at)
{
    (void)at;
    return cexpr_word(m->mem, arena_format(m->mem, "other%d", k));
}

/* All lanes ask, whoever takes it in. */
static void merge_near(emitter *m, int l, int64_t takes, int64_t far)
{
    code_open(&m->out.code, (stmt){.kind = S_BLOCK});
    for (int k = 0; k < stage_states(m->s); k++)
        code_let(&m->out.code, arena_format(m->mem, "const %s", tuple_type(m, k)), other_at(m, k, NULL)->text,
                 emit_form(m, m->d->shuffle, 2,
                           (const cexpr *const[]){tuple_acc(m, k, emit_whole(m, 0)), cexpr_number(m->mem, far)}));
    open_half(m, l, takes);
    take_in(m, other_at, NULL);
    code_close(&m->out.code);
    code_close(&m->out.code);
}

static void merge_by_memory(emitter *m, int l, int64_t takes, int64_t far)
{
    open_half(m, l, takes);
    take_in(m, sums_at, cexpr_plus(m->mem, lanes_lane(m), far));
    put_sums(m);
    code_close(&m->out.code);
    meet(m);
}

/* Of n lanes that differ in the digit of loop l alone the lower half takes the upper half's sums, down to one. there:
 * what lies in memory is what lanes have. */
static void merge_loop(emitter *m, int l, bool *there)
{
    const int64_t apart = inner_lanes(m, l);
    for (int64_t half, n = trips_of(&m->s->nest.loop[l]); n > 1; n = half) {
        const bool near = nest_merges_in_warp(m->p, m->s, l, n);
        half = int_power(n) / 2;
        if (!near && !*there) {
            meet(m); /* who still reads what lay there */
            put_sums(m);
            meet(m);
        }
        (near ? merge_near : merge_by_memory)(m, l, n - half, half * apart);
        *there = !near;
    }
}

static void place_sums(emitter *m)
{
    const int n = stage_states(m->s);
    const int64_t end = m->data.scratch + n * sums_bytes(m);
    m->tile.made->scratch = true;
    m->data.scratch_most = int_max(m->data.scratch_most, end);
    for (int k = 0; k < n; k++) {
        const char *of = arena_format(m->mem, "%s%s *", m->d->space[GROUP], tuple_type(m, k));
        code_let(&m->out.code, of, tuple_fold(m) ? arena_format(m->mem, "sums%d", k) : "sums",
                 scratch_at(m, of, m->data.scratch + k * sums_bytes(m)));
    }
}

/* The first lane may put the result where others read what they folded. */
void lanes_merge(emitter *m)
{
    bool there = false;
    if (nest_merges_in_memory(m->p, m->s))
        place_sums(m);
    for (int l = m->s->nest.n; l-- > nest_unrolled(m->s);)
        if (over_lanes(&m->s->nest.loop[l]) && m->s->folds >> m->s->nest.loop[l].axis & 1)
            merge_loop(m, l, &there);
    if (!there)
        code_call(&m->out.code, cexpr_spelled(m->mem, m->d->warp_barrier));
}

bool lanes_to_one(const emitter *m, const strip *t)
{
    return t->ph == FINISH && trips_folds(m, t);
}

strip *lanes_pass(emitter *m, strip *t)
{
    const bool apart = t->ph == BODY || (t->ph >= CARRY && t->kind == T_LOOP && !trips_folds(m, t));
    if (t->kind == T_LOOP && !apart && over_lanes(trips_loop(m, t)))
        t->kind = T_LANES;
    return t;
}
