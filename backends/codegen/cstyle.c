/* cstyle.c - expressions as text. */
#include "backends/codegen/cstyle.h"
#include "backends/codegen/binding.h"
#include "graph/ir/small.h"

#include <math.h>
#include <string.h>

/* How reals that a language has no type for are read and written; all others of 8 bits and fewer are told their format
 * first. */
static const struct {
    dtype dtype;
    const char *load, *store;
} converted[] = {
    {TS_F16, "half_to_float(", "float_to_half("},
    {TS_BF16, "bfloat_to_float(", "float_to_bfloat("},
    {TS_F8E8M0, "power_to_float(", "float_to_power("},
};

/* "small_to_float(4, 3, 7, 1, "; "" where t is none of these */
static const char *small_call(arena *mem, const char *name, dtype t)
{
    const small *f = small_of(t);
    return f ? arena_format(mem, "%s(%d, %d, %d, %d, ", name, f->exponent, f->fraction, f->bias, f->rule) : "";
}

static const char *noted(const dialect *d, callees *uses, const char *opens)
{
    if (uses)
        callees_form(uses, d, opens, d->suffix);
    return opens;
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

/* Before an integer of any width, "(int8_t)(" or "small_whole(4, 1, ", and ")" behind it. */
static void open_narrow(writer *w, text *t, dtype d)
{
    if (dtype_small(d))
        text_add(t, "%s%d, %d, ", noted(w->d, w->uses, "small_whole("), dtype_bits(d), dtype_signed(d));
    else
        text_add(t, "(%s)(", memory_type(w->d, d));
}

static bool is_narrow(dtype d, bool wide) /* computes in f32 */
{
    return d != TS_F64 && !wide;
}

void cstyle_literal(text *t, const dialect *d, const expr *x, bool wide)
{
    if (!dtype_real(x->dtype)) {
        const int64_t v = x->whole;
        if (x->dtype == TS_U64 && v < 0)
            text_add(t, "%lluu", (unsigned long long)v);
        else if (v == INT64_MIN)
            text_add(t, "%s", d->least_whole);
        else
            text_add(t, v < 0 ? "(%lld)" : "%lld", (long long)v);
        return;
    }
    const bool narrow = is_narrow(x->dtype, wide);
    if (isnan(x->lit))
        text_add(t, "%s", d->nan);
    else if (isinf(x->lit))
        text_add(t, x->lit < 0 ? "(-%s)" : "%s", d->infinity);
    else {
        if (x->lit < 0 || (x->lit == 0 && signbit(x->lit)))
            text_add(t, "(");
        const size_t at = t->length;
        text_add(t, narrow ? "%.9g" : "%.17g", narrow ? (double)(float)x->lit : x->lit);
        if (!strpbrk(t->s + at, ".e"))
            text_add(t, ".0");
        text_add(t, "%s%s", narrow ? d->suffix : "", x->lit < 0 || (x->lit == 0 && signbit(x->lit)) ? ")" : "");
    }
}

static bool computes_narrow(const writer *w, dtype d) /* reals of 4 bytes; integers take the names without a suffix */
{
    return dtype_class(d) == D_REAL ? is_narrow(d, w->wide) : true;
}

static dtype argument(const expr *x) /* whose dtype chooses the function */
{
    return x->arg[x->fn->result == R_SECOND ? 1 : 0]->dtype;
}

/* What judges others computes by the language's own functions. */
static const spelling *spelling_of(const writer *w, const expr *x)
{
    const dtype d = argument(x);
    for (const spelling *s = w->d->spelling; dtype_class(d) == D_REAL && !w->wide && s->fn; s++)
        if (!strcmp(s->fn, x->fn->name) && s->narrow == is_narrow(d, w->wide))
            return s;
    return NULL;
}

const char *cstyle_spelled(const writer *w, const expr *x)
{
    const spelling *s = spelling_of(w, x);
    return s ? s->text : fn_spelled(x->fn, argument(x));
}

static void write_in(writer *w, text *t, const expr *x, binding asked);

/* The form, without its outer brackets where they say nothing. */
static const char *open_form(const char *form, binding asked, size_t *n)
{
    const bool bare = form_binding(form) < ATOM && form_binding(form) >= asked;
    *n = strlen(form) - (bare ? 2 : 0);
    return form + bare;
}

static void write_call(writer *w, text *t, const expr *x, binding asked)
{
    const char *suffix = computes_narrow(w, argument(x)) ? w->d->suffix : "", *form = cstyle_spelled(w, x);
    const bool wraps = dtype_class(x->dtype) == D_WHOLE && x->dtype != TS_I64 && x->fn->result == R_SAME;
    size_t n;
    if (wraps && dtype_small(x->dtype))
        open_narrow(w, t, x->dtype), asked = ANY;
    else if (wraps)
        text_add(t, "(%s)", memory_type(w->d, x->dtype)), asked = ATOM;
    callees_form(w->uses, w->d, form, suffix);
    const char *s = open_form(form, asked, &n);
    for (const char *end = s + n; s < end; s++) {
        if (*s == '@')
            text_add(t, "%s", suffix);
        else if (*s == '$')
            write_in(w, t, x->arg[s[1] - '0'], form_asks(form, s)), s++;
        else
            text_bytes(t, s, 1);
    }
    if (wraps && dtype_small(x->dtype))
        text_add(t, ")");
}

void cstyle_combine(const writer *w, text *t, const fn *f, dtype d, const char *a, const char *b)
{
    const char *suffix = computes_narrow(w, d) ? w->d->suffix : "", *form = fn_spelled(f, d);
    size_t n;
    callees_form(w->uses, w->d, form, suffix);
    const char *s = open_form(form, ANY, &n);
    for (const char *end = s + n; s < end; s++) {
        if (*s == '@')
            text_add(t, "%s", suffix);
        else if (*s == '$')
            text_add(t, "%s", *++s == '0' ? a : b);
        else
            text_bytes(t, s, 1);
    }
}

/* Through memory's form of dtype d; from a wider value by way of a number rounded to odd. */
static void write_rounded(writer *w, text *t, dtype d, bool wider)
{
    text_add(t, "%s%s", cstyle_load(w->mem, w->d, w->uses, d), cstyle_store(w->mem, w->d, w->uses, d));
    if (wider)
        text_add(t, "%s", noted(w->d, w->uses, "odd_float("));
    else
        text_add(t, "(%s)(", w->d->real[0]);
}

static void write_cast(writer *w, text *t, const expr *x, binding asked)
{
    const expr *a = x->arg[0];
    if (x->dtype == TS_BOOL)
        text_add(t, asked > COMPARED ? "(" : ""), write_in(w, t, a, SUM),
            text_add(t, asked > COMPARED ? " != 0)" : " != 0");
    else if (dtype_real(x->dtype)) {
        const bool rounds = !w->wide && *cstyle_load(w->mem, w->d, w->uses, x->dtype),
                   wider = dtype_real(a->dtype) ? a->dtype == TS_F64 : dtype_bits(a->dtype) > 16;
        if (rounds)
            write_rounded(w, t, x->dtype, wider);
        else
            text_add(t, "(%s)(", value_type(w->d, x->dtype, w->wide));
        cstyle_whole(w, t, a);
        text_add(t, rounds ? ")))" : ")");
    } else if (dtype_real(a->dtype)) {             /* truncates; saturates where C would be undefined */
        const bool narrow = dtype_small(x->dtype); /* these wrap */
        open_narrow(w, t, x->dtype);
        text_add(t, "%s(%s)(", noted(w->d, w->uses, "real_to_whole("), w->d->real[1]), cstyle_whole(w, t, a);
        text_add(t, "), %d, %d))", narrow ? 64 : dtype_bits(x->dtype), narrow || dtype_signed(x->dtype));
    } else
        open_narrow(w, t, x->dtype), cstyle_whole(w, t, a), text_add(t, ")");
}

static void write_in(writer *w, text *t, const expr *x, binding asked)
{
    for (int i = 0; i < w->n_known; i++)
        if (w->known[i].x == x && w->known[i].temporary >= 0) {
            text_add(t, "t%d", w->known[i].temporary);
            return;
        }
    switch (x->kind) {
    case X_LIT: cstyle_literal(t, w->d, x, w->wide); break;
    case X_AXIS: w->axis(w->user, t, x->axis); break;
    case X_SIZE: w->size(w->user, t, x->axis); break;
    case X_LOAD: w->load(w->user, t, x); break;
    case X_FOLD: w->fold(w->user, t, x); break;
    case X_CALL: write_call(w, t, x, asked); break;
    case X_CAST: write_cast(w, t, x, asked); break;
    case X_STATE: text_add(t, "%s%d%s", w->states, x->axis, w->state); break;
    case X_SCAN:
        MUST(x_folds(x));
        w->fold(w->user, t, x);
        break;
    case X_SCATTER:
    case X_ROUTINE: MUST(!"part of an expression"); break;
    }
}

void cstyle_expr(writer *w, text *t, const expr *x)
{
    write_in(w, t, x, ATOM);
}

void cstyle_whole(writer *w, text *t, const expr *x)
{
    write_in(w, t, x, ANY);
}

void cstyle_operand(writer *w, text *t, const fn *f, dtype d, int k, const expr *x)
{
    const char *form = fn_spelled(f, d), *at = form;
    while (*at && !(*at == '$' && at[1] == '0' + k))
        at++;
    write_in(w, t, x, *at ? form_asks(form, at) : ATOM);
}

/* ---- what is used more than once ---- */
static int uses_in(const char *s, int arg) /* how often a spelling repeats an argument */
{
    int n = 0;
    for (; *s; s++)
        n += *s == '$' && s[1] == '0' + arg;
    return n;
}

static void count_uses(writer *w, const expr *x, int times, bool lazy)
{
    int i = 0;
    if (x->kind == X_LIT || x->kind == X_AXIS || x->kind == X_SIZE || x->kind == X_STATE)
        return;
    while (i < w->n_known && w->known[i].x != x)
        i++;
    const bool again = i < w->n_known;
    if (!again) {
        if (w->n_known == COUNT(w->known))
            return;
        w->known[w->n_known].x = x, w->known[w->n_known++].temporary = -1;
    }
    if (!lazy)
        w->known[i].temporary -= times; /* below -2: used at least twice where it is always computed */
    if (again || x->kind == X_LOAD || x_folds(x))
        return;
    for (int k = 0; k < x->n; k++) {
        const bool select = x_is_choice(x) && k > 0;
        count_uses(w, x->arg[k], x->kind == X_CALL ? uses_in(cstyle_spelled(w, x), k) : 1, lazy || select);
    }
}

static void name_uses(writer *w, code *out, const expr *x)
{
    int i = 0;
    while (i < w->n_known && w->known[i].x != x)
        i++;
    if (i == w->n_known || w->known[i].temporary >= 0 || x_folds(x))
        return;
    if (x->kind != X_LOAD)
        for (int k = 0; k < x->n; k++)
            name_uses(w, out, x->arg[k]);
    if (w->known[i].temporary > -3)
        return;
    text line = {0};
    cstyle_whole(w, &line, x);
    w->known[i].temporary = w->n_temporary++;
    code_let(out, arena_format(out->mem, "const %s", value_type(w->d, x->dtype, w->wide)),
             arena_format(out->mem, "t%d", w->known[i].temporary), line.s);
    text_free(&line);
}

void cstyle_temporaries(writer *w, code *out, const expr *x)
{
    w->n_known = 0;
    count_uses(w, x, 1, false);
    name_uses(w, out, x);
}
