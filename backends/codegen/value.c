/* value.c - values in the innermost loop of a tile: those of one element, or of a vector where the loop is one over
 * vectors. Phases say what is done with values; here is how either kind is written. */
#include "backends/codegen/vectors.h"

bool vectors_here(const emitter *m)
{
    return m->tile.vectors.n && !m->tile.vectors.each;
}

const char *value_spelled(emitter *m, dtype d)
{
    return vectors_here(m) ? vector_type(m, vector_kind_of(m, d)) : value_type(m->d, d, m->p->reference);
}

/* ---- passes ---- */
const value_pass value_passes[N_VALUE_PASS] = {
    {"inside", "asks of elements that may lie behind the end of the run's extents whether they are there",
     "what a stage computes", "zeros where nothing is", inside_value},
    {"idioms", "takes one function for several operations that the library knows as one", "inside",
     "functions of the library, which are in no table", idioms_value},
    {"products", "adds products that are summed up at once", "idioms", "multiply-adds, where a stage adds",
     products_value},
    {"shapes", "settles how each part is computed: once, as a vector, or one element after another", "products",
     "parts with a shape; those used more than once are to have a name", shapes_value},
};

static const cexpr *written(emitter *m, writer *w, const expr *x)
{
    return vectors_here(m) ? vector_expr(w, x) : cstyle_expr(w, x);
}

const expr *value_through(emitter *m, writer *w, const expr *x, int from, int to)
{
    for (int i = from; i < to; i++)
        x = value_passes[i].run(m, w, x);
    return x;
}

const cexpr *value_of(emitter *m, writer *w, const expr *x)
{
    return written(m, w, value_through(m, w, x, 0, N_VALUE_PASS));
}

const cexpr *value_shaped(emitter *m, writer *w, const expr *x)
{
    return written(m, w, shapes_value(m, w, x));
}

int64_t value_width(const emitter *m, dtype d)
{
    return vectors_here(m)   ? vector_bytes(m, vector_kind_of(m, d))
           : m->p->reference ? (int64_t)sizeof(double)
                             : ts_dtype_bytes(d);
}

void value_let(emitter *m, const char *prefix, int number, dtype d, const cexpr *value)
{
    code_let(&m->out.code, arena_format(m->mem, "const %s", value_spelled(m, d)),
             arena_format(m->mem, "%s%d", prefix, number), value)
        ->bytes = value_width(m, d);
}

const cexpr *value_read(emitter *m, dtype d, const cexpr *place)
{
    return vectors_here(m) ? vector_read(m, d, place)
                           : cexpr_one(m->mem, cstyle_load(m->mem, m->d, m->out.uses, d), place);
}

void value_write(emitter *m, dtype d, const cexpr *place, const cexpr *value)
{
    if (vectors_here(m))
        vector_write(m, d, place, value);
    else
        code_store(&m->out.code, place, cexpr_one(m->mem, cstyle_store(m->mem, m->d, m->out.uses, d), value));
}

const cexpr *value_unit(emitter *m)
{
    const dtype d = m->stage.fold->dtype;
    const cexpr *one = cstyle_literal(m->mem, m->d, x_unit(m->mem, m->stage.fold->fn, d), m->p->reference);
    return vectors_here(m)
               ? vector_splat(m, vector_kind_of(m, d), cexpr_one(m->mem, d == TS_BOOL ? "-($0)" : "$0", one))
               : one;
}

const cexpr *value_combined(emitter *m, const cexpr *a, const cexpr *b)
{
    if (vectors_here(m))
        return vector_combine(m, a, b);
    const writer w = emit_writer(m);
    return cstyle_combine(&w, m->stage.fold->fn, m->stage.fold->dtype, a, b);
}

const cexpr *value_counted(emitter *m, dtype d, const cexpr *value, const cexpr *was)
{
    const vector_loop *v = &m->tile.vectors;
    if (!vectors_here(m) || !(m->s->folds >> v->axis & 1) || v->count == v->n)
        return value;
    return vector_call(m, vector_kind_of(m, d), "first", "($0, $1, $2)",
                       (const cexpr *const[]){cexpr_number(m->mem, v->count), value, was});
}

/* A sum of products by one instruction, FMA, which rounds once */
static const cexpr *sum_product(emitter *m, writer *w, const expr *x, const cexpr *acc)
{
    const dtype d = m->stage.fold->dtype;
    const char *form = m->d->fma[d == TS_F64 || m->p->reference];
    const cexpr *const arg[] = {written(m, w, x->arg[0]), written(m, w, x->arg[1]), acc};
    if (vectors_here(m))
        return vector_call(m, vector_kind_of(m, d), "fma", "($0, $1, $2)", arg);
    callees_form(m->out.uses, m->d, form, m->d->suffix);
    return cexpr_lanes(m->mem, "fma", (instance){0}, form, 3, arg);
}

/* where(c, a b, 0), which rounds twice as it stands, as where(c, a, 0) where(c, b, 0): where the condition is known, or
 * a copy's, what is left is a product, too. */
static const expr *product_of(emitter *m, const expr *x)
{
    const bool guarded = x_is_call(x, "select") && x->arg[2]->kind == X_LIT && x->arg[2]->lit == 0;
    const expr *of = guarded ? product_of(m, x->arg[1]) : x;
    if (!guarded || !x_is_call(of, "mul"))
        return x;
    const expr *part[2];
    for (int i = 0; i < 2; i++)
        part[i] = x3(m->mem, "select", x->arg[0], of->arg[i], x_cast(m->mem, of->arg[i]->dtype, x->arg[2]));
    return x2(m->mem, "mul", part[0], part[1]);
}

const cexpr *value_sum(emitter *m, const expr *x, const cexpr *acc)
{
    writer w = emit_writer(m);
    w.sums = true, x = value_through(m, &w, m->p->reproducible ? product_of(m, x) : x, 0, N_VALUE_PASS);
    if (dtype_class(x->dtype) == D_REAL && x_is_call(x, "mul") && x_folds_by(m->stage.fold, "add"))
        return sum_product(m, &w, x, acc);
    return value_combined(m, acc, written(m, &w, x));
}

/* Results that are no neighbours, one after the other */
static void put_apart(emitter *m, dtype d, const cexpr *value)
{
    const char *name = arena_format(m->mem, "e%d", m->tile.vectors.names++);
    code_let(&m->out.code, arena_format(m->mem, "const %s", value_spelled(m, d)), name, value);
    const cexpr *one = cexpr_element(m->mem, name, cexpr_word(m->mem, vector_each_open(m)), IN_REGISTERS);
    value_put(m, cexpr_one(m->mem, d == TS_BOOL ? "(-$0)" : "$0", one));
    vector_each_close(m);
}

void value_put(emitter *m, const cexpr *value)
{
    const dtype d = stored_as(m->p, m->s->node);
    const vector_loop *v = &m->tile.vectors;
    if (vectors_here(m) && turn_element(m, RESULT)) {
        code_store(&m->out.code, turn_element(m, RESULT), value);
        return;
    }
    if (vectors_here(m) && !vector_runs(m, RESULT, v->axis, v->count)) {
        put_apart(m, d, value);
        return;
    }
    value_write(m, d, emit_result(m), value);
}
