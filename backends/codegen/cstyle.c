/* cstyle.c - expressions as those of C-like languages. */
#include "backends/codegen/cstyle.h"
#include "graph/ir/small.h"

#include <math.h>
#include <string.h>

/* How reals that a language has no type for are read and written; all others of 8 bits and fewer are told their format
 * first. */
static const struct {
    dtype dtype;
    const char *load, *store;
} converted[] = {
    {TS_F16, "half_to_float($0)", "float_to_half($0)"},
    {TS_BF16, "bfloat_to_float($0)", "float_to_bfloat($0)"},
    {TS_F8E8M0, "power_to_float($0)", "float_to_power($0)"},
};

/* "small_to_float(4, 3, 7, 1, $0)"; "$0" where t is none of these */
static const char *small_call(arena *mem, const char *name, dtype t)
{
    const small *f = small_of(t);
    return f ? arena_format(mem, "%s(%d, %d, %d, %d, $0)", name, f->exponent, f->fraction, f->bias, f->rule) : "$0";
}

static const char *noted(const dialect *d, callees *uses, const char *form)
{
    if (uses)
        callees_form(uses, d, form, d->suffix);
    return form;
}

const char *cstyle_load(arena *mem, const dialect *d, callees *uses, dtype t)
{
    for (int i = 0; i < COUNT(converted); i++)
        if (converted[i].dtype == t)
            return noted(d, uses, converted[i].load);
    return noted(d, uses, small_call(mem, "small_to_float", t));
}

const char *cstyle_store(arena *mem, const dialect *d, callees *uses, dtype t)
{
    for (int i = 0; i < COUNT(converted); i++)
        if (converted[i].dtype == t)
            return noted(d, uses, converted[i].store);
    return noted(d, uses, small_call(mem, "float_to_small", t));
}

/* An integer of any width: "(int8_t)($0)" or "small_whole(4, 1, $0)" */
static const cexpr *narrowed(writer *w, dtype d, const cexpr *x)
{
    if (!dtype_small(d))
        return cexpr_cast(w->mem, arena_format(w->mem, "(%s)($0)", memory_type(w->d, d)), x);
    return cexpr_one(
        w->mem,
        arena_format(w->mem, "%s%d, %d, $0)", noted(w->d, w->uses, "small_whole("), dtype_bits(d), dtype_signed(d)), x);
}

static bool is_narrow(dtype d, bool wide) /* computes in f32 */
{
    return d != TS_F64 && !wide;
}

static const char *whole_text(arena *mem, const dialect *d, const expr *x)
{
    const int64_t v = x->whole;
    if (x->dtype == TS_U64 && v < 0)
        return arena_format(mem, "%lluu", (unsigned long long)v);
    return v == INT64_MIN ? d->least_whole : arena_format(mem, v < 0 ? "(%lld)" : "%lld", (long long)v);
}

static const char *real_text(arena *mem, const dialect *d, const expr *x, bool narrow)
{
    if (isnan(x->lit))
        return d->nan;
    if (isinf(x->lit))
        return arena_format(mem, x->lit < 0 ? "(-%s)" : "%s", d->infinity);
    const char *number = arena_format(mem, narrow ? "%.9g" : "%.17g", narrow ? (double)(float)x->lit : x->lit);
    return arena_format(mem, signbit(x->lit) ? "(%s%s%s)" : "%s%s%s", number, strpbrk(number, ".e") ? "" : ".0",
                        narrow ? d->suffix : "");
}

const cexpr *cstyle_literal(arena *mem, const dialect *d, const expr *x, bool wide)
{
    return dtype_real(x->dtype) ? cexpr_word(mem, real_text(mem, d, x, is_narrow(x->dtype, wide)))
                                : cexpr_literal(mem, whole_text(mem, d, x), x->whole);
}

static bool computes_narrow(const writer *w, dtype d) /* reals of 4 bytes; integers take the names without a suffix */
{
    return dtype_class(d) == D_REAL ? is_narrow(d, w->wide) : true;
}

static dtype argument(const expr *x) /* whose dtype chooses the function */
{
    return x->arg[x->fn->result == R_SECOND ? 1 : 0]->dtype;
}

/* The judge's kernels call the language's own functions; all others may use the library's. */
static const spelling *spelling_of(const writer *w, const expr *x)
{
    const dtype d = argument(x);
    const spelling *table = w->alike ? library_spelled : w->d->spelling;
    for (const spelling *s = table; dtype_class(d) == D_REAL && !w->wide && s->fn; s++)
        if (!strcmp(s->fn, x->fn->name) && s->narrow == is_narrow(d, w->wide) &&
            callees_have(w->d, s->text, strcspn(s->text, "("), (instance){.n = 1}))
            return s;
    return NULL;
}

const char *cstyle_spelled(const writer *w, const expr *x)
{
    const spelling *s = spelling_of(w, x);
    return s ? s->text : fn_spelled(x->fn, argument(x));
}

/* The form of a function, its names those of the kind; noted */
static const char *spelled_for(const writer *w, const char *form, bool narrow)
{
    const char *suffix = narrow ? w->d->suffix : "";
    ENDED_BY(text_free) text t = {0};
    callees_form(w->uses, w->d, form, suffix);
    if (!strchr(form, '@'))
        return form;
    for (const char *s = form; *s; s++)
        if (*s == '@')
            text_add(&t, "%s", suffix);
        else
            text_bytes(&t, s, 1);
    return arena_string(w->mem, t.s);
}

/* Whether it gives the same bits on every target: its text is the library's, or IEEE 754 defines its result. */
static bool rounds_alike(const writer *w, const char *form)
{
    static const char *const exact[] = {"fabs", "sqrt", "floor", "ceil", "rint", "trunc", "fmod"};
    const size_t n = strcspn(form, "@(");
    bool known = !n || form[n] != '@' || callees_have(w->d, form, n, (instance){.n = 1});
    for (int i = 0; i < COUNT(exact) && !known; i++)
        known = strlen(exact[i]) == n && !memcmp(exact[i], form, n);
    return known;
}

static const cexpr *call(writer *w, const expr *x)
{
    const bool wraps = dtype_class(x->dtype) == D_WHOLE && x->dtype != TS_I64 && x->fn->result == R_SAME;
    const cexpr *arg[MAX_ARG];
    const char *spelled = cstyle_spelled(w, x), *form = spelled_for(w, spelled, computes_narrow(w, argument(x)));
    if (w->alike && !rounds_alike(w, spelled))
        w->uses->own = x->fn->name;
    for (int k = 0; k < x->n; k++)
        arg[k] = cstyle_expr(w, x->arg[k]);
    const cexpr *all = cexpr_lanes(w->mem, x->fn->name, (instance){0}, form, x->n, arg);
    if (!wraps)
        return all;
    return dtype_small(x->dtype) ? narrowed(w, x->dtype, all)
                                 : cexpr_cast(w->mem, arena_format(w->mem, "(%s)$0", memory_type(w->d, x->dtype)), all);
}

const cexpr *cstyle_combine(const writer *w, const fn *f, dtype d, const cexpr *a, const cexpr *b)
{
    return cexpr_lanes(w->mem, f->name, (instance){0}, spelled_for(w, fn_spelled(f, d), computes_narrow(w, d)), 2,
                       (const cexpr *const[]){a, b});
}

/* Rounds x to d as storing and loading would. A wider value is rounded to odd first, so that it is rounded once in
 * effect. */
static const cexpr *rounded(writer *w, dtype d, bool wider, const cexpr *x)
{
    const char *load = cstyle_load(w->mem, w->d, w->uses, d), *store = cstyle_store(w->mem, w->d, w->uses, d);
    const char *first = wider ? noted(w->d, w->uses, "odd_float($0)") : arena_format(w->mem, "(%s)($0)", w->d->real[0]);
    return cexpr_one(w->mem, load, cexpr_one(w->mem, store, cexpr_one(w->mem, first, x)));
}

static const cexpr *cast(writer *w, const expr *x)
{
    const expr *a = x->arg[0];
    const cexpr *of = cstyle_expr(w, a);
    if (x->dtype == TS_BOOL)
        return cexpr_one(w->mem, "($0 != 0)", of);
    if (dtype_real(x->dtype)) {
        const bool rounds = !w->wide && strcmp(cstyle_load(w->mem, w->d, w->uses, x->dtype), "$0"),
                   wider = dtype_real(a->dtype) ? a->dtype == TS_F64 : dtype_bits(a->dtype) > 16;
        return rounds ? rounded(w, x->dtype, wider, of)
                      : cexpr_one(w->mem, arena_format(w->mem, "(%s)($0)", value_type(w->d, x->dtype, w->wide)), of);
    }
    if (dtype_real(a->dtype)) {                    /* truncates; saturates where C would be undefined */
        const bool narrow = dtype_small(x->dtype); /* these wrap */
        of = cexpr_one(w->mem,
                       arena_format(w->mem, "%s(%s)($0), %d, %d)", noted(w->d, w->uses, "real_to_whole("),
                                    w->d->real[1], narrow ? 64 : dtype_bits(x->dtype),
                                    narrow || dtype_signed(x->dtype)),
                       of);
    }
    return narrowed(w, x->dtype, of);
}

const cexpr *cstyle_state(const writer *w, int i)
{
    return cexpr_indexed(w->mem, arena_format(w->mem, "%s%d", w->states, i), w->state);
}

static const cexpr *write(writer *w, const expr *x)
{
    switch (x->kind) {
    case X_LIT: return cstyle_literal(w->mem, w->d, x, w->wide);
    case X_AXIS: return w->axis(w->user, x->axis);
    case X_SIZE: return w->size(w->user, x->axis);
    case X_LOAD: return w->load(w->user, x);
    case X_CALL: return call(w, x);
    case X_CAST: return cast(w, x);
    case X_STATE: return cstyle_state(w, x->axis);
    case X_FOLD:
    case X_SCAN: MUST(x_folds(x)); return w->fold(w->user, x);
    case X_SCATTER:
    case X_ROUTINE: MUST(!"part of an expression"); break;
    }
    return NULL;
}

value_part *cstyle_part(const writer *w, const expr *x)
{
    for (int i = 0; i < w->n_part; i++)
        if (w->part[i].x == x)
            return &w->part[i];
    value_part *q = w->up ? cstyle_part(w->up, x) : NULL;
    return q && q->name ? q : NULL;
}

const cexpr *cstyle_expr(writer *w, const expr *x)
{
    value_part *q = cstyle_part(w, x);
    if (q && q->name)
        return q->name;
    const cexpr *value = write(w, x);
    if (!q || q->held || q->uses < 2)
        return value;
    q->name = cexpr_word(w->mem, arena_format(w->mem, "t%d", w->n_temporary++));
    code_let(w->out, arena_format(w->mem, "const %s", value_type(w->d, x->dtype, w->wide)), q->name->text, value);
    return q->name;
}
