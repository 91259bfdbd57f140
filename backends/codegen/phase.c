/* phase.c - one element of each phase of a tile: what stands in its innermost loop. */
#include "backends/codegen/emit.h"

/* acc = the unit of the fold: 0 of a sum. */
static void clear_one(emitter *m)
{
    if (tuple_fold(m)) {
        tuple_clear(m);
        return;
    }
    text acc = {0}, unit = {0};
    emit_acc(m, &acc, NULL);
    cstyle_literal(&unit, m->d, x_unit(m->mem, m->stage.fold->fn, m->stage.fold->dtype), m->p->reference);
    code_store(&m->out.code, acc.s, unit.s);
    text_free(&acc), text_free(&unit);
}

/* acc = acc (+) term; a sum of products by one instruction, FMA, which rounds once. */
static void body_one(emitter *m)
{
    if (tuple_fold(m)) {
        tuple_step(m);
        return;
    }
    writer w = emit_writer(m);
    text acc = {0}, value = {0}, sum = {0};
    const expr *x = with_idioms(m, varying_inside(m, varying_term(m, m->tile.term)));
    emit_acc(m, &acc, NULL);
    cstyle_temporaries(&w, &m->out.code, x);
    const bool product = dtype_class(x->dtype) == D_REAL && x_is_call(x, "mul") && x_folds_by(m->stage.fold, "add");
    if (product) {
        text a = {0}, b = {0};
        cstyle_whole(&w, &a, x->arg[0]), cstyle_whole(&w, &b, x->arg[1]);
        form_write(&sum, m->out.uses, m->d, m->d->fma[m->stage.fold->dtype == TS_F64 || m->p->reference],
                   (const char *[]){a.s, b.s, acc.s});
        text_free(&a), text_free(&b);
    } else {
        cstyle_operand(&w, &value, m->stage.fold->fn, m->stage.fold->dtype, 1, x);
        emit_combine(m, &sum, acc.s, value.s);
    }
    code_store(&m->out.code, acc.s, sum.s);
    text_free(&acc), text_free(&value), text_free(&sum);
}

/* The lanes of a folded vector loop, in a fixed order: halves of them, down to one. (Comparing single numbers, one
 * after another, took a tenth of attention's time: which is larger is not foreseen.) */
static void merge_one(emitter *m)
{
    const int a = m->s->nest.loop[m->stage.lane].axis;
    const int64_t all = nest_left(m->k, m->s, a, m->stage.lane - 1);
    if (tuple_fold(m)) {
        tuple_lanes(m, all);
        return;
    }
    text low = {0};
    emit_acc(m, &low, "i");
    for (int64_t half, lanes = all; lanes > 1; lanes = half) {
        text high = {0}, sum = {0};
        half = (lanes + 1) / 2;
        const bool one = lanes - half == 1; /* takes no loop */
        if (one)
            low.length = 0, emit_acc(m, &low, "0");
        emit_acc(m, &high, arena_format(m->mem, one ? "%lld" : "i + %lld", (long long)half));
        emit_combine(m, &sum, low.s, high.s);
        if (!one)
            code_open(&m->out.code, (stmt){.kind = S_LOOP,
                                           .how = IN_LANES,
                                           .name = "i",
                                           .from = "0",
                                           .to = number_text(m, lanes - half),
                                           .tight = true});
        code_store(&m->out.code, low.s, sum.s);
        if (!one)
            code_close(&m->out.code);
        text_free(&high), text_free(&sum);
    }
    text_free(&low);
}

/* Partial sums wait in the result. Before the first one nothing is there: what is shared is not read even then. */
static void combine_before(emitter *m, const char *y, const char *acc)
{
    text sum = {0}, was = {0};
    if (m->d->not_early && load_reach(m, RESULT) == GROUP)
        form_write(&was, m->out.uses, m->d, m->d->not_early,
                   (const char *[]){memory_type(m->d, stored_as(m->p, m->s->node)), y});
    emit_combine(m, &sum, was.length ? was.s : y, acc);
    code_open(&m->out.code, (stmt){.kind = S_IF, .value = "!first", .tight = true});
    code_store(&m->out.code, acc, sum.s);
    code_close(&m->out.code);
    text_free(&sum), text_free(&was);
}

/* acc = y (+) acc */
static void take_one(emitter *m)
{
    text acc = {0}, y = {0}, sum = {0};
    emit_acc(m, &acc, "0"), emit_result(m, &y);
    emit_combine(m, &sum, y.s, acc.s);
    code_store(&m->out.code, acc.s, sum.s);
    text_free(&acc), text_free(&y), text_free(&sum);
}

/* y = acc */
static void keep_one(emitter *m)
{
    text acc = {0}, y = {0};
    emit_acc(m, &acc, "0"), emit_result(m, &y);
    code_store(&m->out.code, y.s, acc.s);
    text_free(&acc), text_free(&y);
}

/* y = the value, in which the fold's own place is taken by the accumulator. */
static void finish_one(emitter *m)
{
    if (m->s->n_piece) {
        tuple_leave(m);
        return;
    }
    writer w = emit_writer(m);
    text value = {0}, y = {0}, acc = {0};
    const char *wrap = cstyle_store(m->mem, m->d, m->out.uses, stored_as(m->p, m->s->node));
    emit_result(m, &y);
    if (m->stage.carries) {
        carry_result(m, y.s);
        text_free(&y);
        return;
    }
    const expr *x = with_idioms(m, varying_inside(m, partial_value(m)));
    if (m->stage.outer_fold) {
        emit_acc(m, &acc, "0");
        combine_before(m, y.s, acc.s);
    }
    if (tuple_fold(m))
        tuple_result(m);
    cstyle_temporaries(&w, &m->out.code, x);
    (m->stage.outer_fold ? cstyle_expr : cstyle_whole)(&w, &value, x);
    if (m->tile.run) {
        const char *all = arena_format(m->mem, "%s%s%s", wrap, value.s, *wrap ? ")" : "");
        matrix_store(m, y.s, all);
    } else
        code_store(&m->out.code, y.s,
                   m->stage.outer_fold ? arena_format(m->mem, "last ? %s : %s", value.s, acc.s)
                                       : arena_format(m->mem, "%s%s%s", wrap, value.s, *wrap ? ")" : ""));
    text_free(&value), text_free(&y), text_free(&acc);
}

void emit_phase(emitter *m, phase ph)
{
    static void (*const one[])(emitter *) = {clear_one, body_one,   merge_one, lanes_merge,
                                             carry_one, finish_one, take_one,  keep_one};
    one[ph](m);
}
