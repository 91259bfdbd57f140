/* value.c - values in the innermost loop of a tile: those of one element, or of a vector where the loop is one over
 * vectors. Phases say what is done with values; here is how either kind is written. */
#include "backends/codegen/vectors.h"

static bool in_vectors(const emitter *m)
{
    return m->tile.vectors.n && !m->tile.vectors.each;
}

const char *value_spelled(emitter *m, dtype d)
{
    return in_vectors(m) ? vector_type(m, vector_kind_of(m, d)) : value_type(m->d, d, m->p->reference);
}

const char *value_text(emitter *m, writer *w, const expr *x)
{
    text t = {0};
    x = with_idioms(m, x);
    if (in_vectors(m))
        return vector_over(m, x, w->states, w->state);
    cstyle_temporaries(w, &m->out.code, x);
    cstyle_whole(w, &t, x);
    return code_keep(&m->out.code, &t);
}

void value_let(emitter *m, const char *prefix, int number, dtype d, const char *value)
{
    code_let(&m->out.code, arena_format(m->mem, "const %s", value_spelled(m, d)),
             arena_format(m->mem, "%s%d", prefix, number), value);
}

const char *value_read(emitter *m, dtype d, const char *place)
{
    const char *load = cstyle_load(m->mem, m->d, in_vectors(m) ? NULL : m->out.uses, d);
    return in_vectors(m) ? vector_read(m, d, place) : arena_format(m->mem, "%s%s%s", load, place, *load ? ")" : "");
}

void value_write(emitter *m, dtype d, const char *place, const char *value)
{
    if (in_vectors(m)) {
        vector_write(m, d, place, value);
        return;
    }
    const char *store = cstyle_store(m->mem, m->d, m->out.uses, d);
    code_store(&m->out.code, place, arena_format(m->mem, "%s%s%s", store, value, *store ? ")" : ""));
}

const char *value_unit(emitter *m)
{
    const dtype d = m->stage.fold->dtype;
    text unit = {0};
    cstyle_literal(&unit, m->d, x_unit(m->mem, m->stage.fold->fn, d), m->p->reference);
    const char *one = code_keep(&m->out.code, &unit);
    if (!in_vectors(m))
        return one;
    return arena_format(m->mem, d == TS_BOOL ? "%s(-(%s))" : "%s(%s)", vector_op(m, vector_kind_of(m, d), "splat"),
                        one);
}

const char *value_combined(emitter *m, const char *a, const char *b)
{
    if (in_vectors(m))
        return vector_combine(m, a, b);
    const writer w = emit_writer(m);
    text t = {0};
    cstyle_combine(&w, &t, m->stage.fold->fn, m->stage.fold->dtype, a, b);
    return code_keep(&m->out.code, &t);
}

const char *value_counted(emitter *m, dtype d, const char *value, const char *was)
{
    const vector_loop *v = &m->tile.vectors;
    if (!in_vectors(m) || !(m->s->folds >> v->axis & 1) || v->count == v->n)
        return value;
    return arena_format(m->mem, "%s(%d, %s, %s)", vector_op(m, vector_kind_of(m, d), "first"), v->count, value, was);
}

/* A sum of products by one instruction, FMA, which rounds once */
static const char *sum_product(emitter *m, writer *w, const expr *x, const char *acc)
{
    text a = {0}, b = {0}, sum = {0};
    if (in_vectors(m)) {
        const char *first = vector_value(m, x->arg[0]), *second = vector_value(m, x->arg[1]);
        return arena_format(m->mem, "%s(%s, %s, %s)", vector_op(m, vector_kind_of(m, m->stage.fold->dtype), "fma"),
                            first, second, acc);
    }
    cstyle_temporaries(w, &m->out.code, x);
    cstyle_whole(w, &a, x->arg[0]), cstyle_whole(w, &b, x->arg[1]);
    form_write(&sum, m->out.uses, m->d, m->d->fma[m->stage.fold->dtype == TS_F64 || m->p->reference],
               (const char *[]){a.s, b.s, acc});
    text_free(&a), text_free(&b);
    return code_keep(&m->out.code, &sum);
}

const char *value_sum(emitter *m, const expr *x, const char *acc)
{
    writer w = emit_writer(m);
    text value = {0};
    if (in_vectors(m) && m->tile.vectors.dot)
        return vector_dot(m, acc);
    x = with_idioms(m, x);
    if (dtype_class(x->dtype) == D_REAL && x_is_call(x, "mul") && x_folds_by(m->stage.fold, "add"))
        return sum_product(m, &w, x, acc);
    if (in_vectors(m))
        return vector_combine(m, acc, vector_value(m, x));
    cstyle_temporaries(&w, &m->out.code, x);
    cstyle_operand(&w, &value, m->stage.fold->fn, m->stage.fold->dtype, 1, x);
    return value_combined(m, acc, code_keep(&m->out.code, &value));
}

const char *value_acc(emitter *m, const char *lane)
{
    text t = {0};
    emit_acc(m, &t, lane);
    return code_keep(&m->out.code, &t);
}

/* Results that are no neighbours, one after the other */
static void put_apart(emitter *m, dtype d, const char *value)
{
    const char *name = arena_format(m->mem, "e%d", m->tile.vectors.names++);
    code_let(&m->out.code, arena_format(m->mem, "const %s", value_spelled(m, d)), name, value);
    const char *each = vector_each_open(m);
    value_put(m, arena_format(m->mem, d == TS_BOOL ? "-%s[%s]" : "%s[%s]", name, each));
    vector_each_close(m);
}

void value_put(emitter *m, const char *value)
{
    const dtype d = stored_as(m->p, m->s->node);
    const vector_loop *v = &m->tile.vectors;
    text y = {0};
    if (in_vectors(m) && !vector_runs(m, RESULT, v->axis, v->count)) {
        put_apart(m, d, value);
        return;
    }
    emit_result(m, &y);
    value_write(m, d, code_keep(&m->out.code, &y), value);
}
