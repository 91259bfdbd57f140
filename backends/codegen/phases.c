/* phases.c - each phase of a tile, of one element or of one vector: what stands in its innermost loop. */
#include "backends/codegen/trips.h"
#include "backends/codegen/vectors.h"

/* acc = the unit of the fold: 0 of a sum. */
static void clear_one(emitter *m)
{
    if (tuple_fold(m))
        tuple_clear(m);
    else
        code_store(&m->out.code, value_acc(m, NULL), value_unit(m));
}

/* acc = acc (+) term */
static void body_one(emitter *m)
{
    if (tuple_fold(m)) {
        tuple_step(m);
        return;
    }
    const cexpr *acc = value_acc(m, NULL), *sum = value_sum(m, varying_term(m, m->tile.term), acc);
    code_store(&m->out.code, acc, value_counted(m, m->stage.fold->dtype, sum, acc));
}

void emit_dot(emitter *m)
{
    const cexpr *acc = value_acc(m, NULL);
    code_store(&m->out.code, acc, vector_dot(m, acc));
}

/* What lanes of a folded vector loop have becomes one, in a fixed order: halves of the power of two that they fit into,
 * as of vectors of any size. (Comparing one number after another took a tenth of attention's time.) */
void phase_halves(emitter *m, int64_t lanes, void (*take)(emitter *m, const cexpr *low, const cexpr *high))
{
    const bool vectors = m->tile.vectors.n;
    for (int64_t half; lanes > 1; lanes = half) {
        half = int_power(lanes) / 2;
        const bool one = lanes - half == 1; /* takes no loop */
        code_open(&m->out.code, one ? (stmt){.kind = S_BLOCK}
                                    : (stmt){.kind = S_LOOP,
                                             .how = vectors ? WRITTEN_OUT : IN_LANES,
                                             .name = "i",
                                             .from = emit_whole(m, 0),
                                             .to = emit_whole(m, lanes - half),
                                             .trips = lanes - half,
                                             .tight = true});
        const cexpr *low = one ? emit_whole(m, 0) : cexpr_word(m->mem, "i");
        take(m, low, cexpr_plus(m->mem, low, half));
        code_close(&m->out.code);
    }
}

static void take_lane(emitter *m, const cexpr *low, const cexpr *high)
{
    const cexpr *acc = value_acc(m, low);
    code_store(&m->out.code, acc, value_combined(m, acc, value_acc(m, high)));
}

static void merge_one(emitter *m)
{
    const int a = m->s->nest.loop[m->stage.lane].axis;
    const int64_t lanes = m->tile.vectors.n ? vectors_of(m) : nest_left(m->k, m->s, a, m->stage.lane - 1);
    if (tuple_fold(m)) {
        tuple_lanes(m, lanes);
        return;
    }
    phase_halves(m, lanes, take_lane);
    const cexpr *acc = value_acc(m, emit_whole(m, 0));
    for (int half = m->tile.vectors.n / 2; half; half /= 2)
        code_store(&m->out.code, acc,
                   value_combined(m, acc, vector_down(m, m->stage.fold->dtype, acc, cexpr_number(m->mem, half))));
}

/* Adds earlier partial sums, which are in the result. Shared memory is not read before the first sum is stored. */
static void combine_before(emitter *m, const cexpr *y, const cexpr *acc)
{
    const bool late = m->d->not_early && load_reach(m, RESULT) == GROUP;
    const cexpr *was = late ? cexpr_two(m->mem, m->d->not_early,
                                        cexpr_spelled(m->mem, memory_type(m->d, stored_as(m->p, m->s->node))), y)
                            : y;
    const cexpr *sum = value_combined(m, was, acc);
    code_open(&m->out.code,
              (stmt){.kind = S_IF, .value = cexpr_not(m->mem, cexpr_word(m->mem, "first")), .tight = true});
    code_store(&m->out.code, acc, sum);
    code_close(&m->out.code);
}

/* sums = acc */
static void spill_one(emitter *m)
{
    const cexpr *acc = value_acc(m, emit_whole(m, 0));
    m->tile.sums = "sums";
    code_store(&m->out.code, value_acc(m, emit_whole(m, 0)), acc);
    m->tile.sums = NULL;
}

enum { MOST = 32 }; /* numbers that are told apart */
/* Of numbers that all elements have in common, in x: the n so far and those that it adds to them */
static int numbers_in(emitter *m, const expr *x, const expr **seen, int n)
{
    bool one = n < MOST && (x->kind == X_LIT || (x->kind == X_LOAD && emit_single(m, emit_number(m, x))));
    for (int i = 0; one && i < n; i++)
        one = !x_same(seen[i], x);
    if (one)
        seen[n++] = x;
    for (int i = 0; (x->kind == X_CALL || x->kind == X_CAST) && i < x->n && n < MOST; i++)
        n = numbers_in(m, x->arg[i], seen, n);
    return n;
}

/* Whether sums are kept in memory while what follows them is computed. Compilers allocate registers per function, so
 * constants of the following code would take registers from the loops that form the sums. Two registers are for values
 * in flight. */
bool phase_spills(emitter *m, int64_t sums)
{
    const expr *seen[MOST];
    return sums + numbers_in(m, m->stage.value, seen, 0) + 2 > m->p->on->n_register;
}

/* Operations of a step. A processor looks through a hundred instructions or so (Zen 2: 64, Skylake: 97) for those that
 * wait for no other one; eight chains in them keep two units busy that take four cycles. */
enum { STEP = 6 };

static int calls(const expr *x)
{
    int n = x->kind == X_CALL;
    for (int i = 0; x->kind != X_LOAD && !x_folds(x) && i < x->n; i++)
        n += calls(x->arg[i]);
    return n;
}

const expr *phase_step(emitter *m, const expr **x)
{
    const expr *first = *x, other = {.kind = X_STATE, .dtype = TS_F32};
    for (int i = 0; i < first->n && first->kind != X_LOAD && !x_folds(first); i++)
        if (calls(first->arg[i]) >= STEP && x_find_fold(first->arg[i]))
            first = first->arg[i], i = -1;
    if (first->dtype != TS_F32 || calls(*x) - calls(first) < STEP / 2 ||
        x_find_fold(x_replace(m->mem, *x, first, &other))) /* they are asked for again */
        return NULL;
    expr *done = arena_get(m->mem, sizeof *done);
    *done = *m->stage.fold, done->dtype = first->dtype;
    *x = x_replace(m->mem, *x, first, done);
    return first;
}

/* acc = y (+) acc */
static void take_one(emitter *m)
{
    const cexpr *acc = value_acc(m, emit_whole(m, 0));
    code_store(&m->out.code, acc, value_combined(m, value_read(m, stored_as(m->p, m->s->node), emit_result(m)), acc));
}

/* y = acc */
static void keep_one(emitter *m)
{
    value_write(m, stored_as(m->p, m->s->node), emit_result(m), value_acc(m, emit_whole(m, 0)));
}

/* Stores the value once the last partial sum is there. */
static void finish_parts(emitter *m, const expr *x)
{
    writer w = emit_writer(m);
    const cexpr *y = emit_result(m), *acc = value_acc(m, emit_whole(m, 0));
    combine_before(m, y, acc);
    if (tuple_fold(m))
        tuple_result(m);
    const cexpr *const arg[] = {cexpr_word(m->mem, "last"), value_of(m, &w, x), acc};
    code_store(&m->out.code, y, cexpr_lanes(m->mem, "select", (instance){0}, "($0 ? $1 : $2)", 3, arg));
}

/* y = the value, in which the fold's own place is taken by the accumulator. */
static void finish_one(emitter *m)
{
    writer w = emit_writer(m);
    if (m->s->n_piece) {
        tuple_leave(m);
        return;
    }
    if (m->stage.carries) {
        carry_result(m);
        return;
    }
    const expr *x = vectors_value(m);
    if (m->stage.outer_fold) {
        finish_parts(m, x);
        return;
    }
    if (tuple_fold(m))
        tuple_result(m);
    const cexpr *value = value_of(m, &w, x);
    const char *sums = m->tile.sums;
    if (m->tile.step) {
        m->tile.sums = m->tile.step;
        code_store(&m->out.code, value_acc(m, emit_whole(m, 0)), value);
        m->tile.sums = sums;
    } else if (m->tile.run)
        matrix_store(m, emit_result(m),
                     cexpr_one(m->mem, cstyle_store(m->mem, m->d, m->out.uses, stored_as(m->p, m->s->node)), value));
    else
        value_put(m, value);
}

void emit_phase(emitter *m, tile_phase ph)
{
    static void (*const one[])(emitter *) = {clear_one, body_one,   merge_one, lanes_merge, carry_one,
                                             spill_one, finish_one, take_one,  keep_one};
    one[ph](m);
}

strip *phases_pass(emitter *m, strip *t)
{
    while (t->kind == T_LOOP && t->ph != BODY && trips_folds(m, t) && !(t->ph == CLEAR && t->loop == m->stage.lane))
        t = t->in;
    return t;
}
