/* cstyle.c - expressions as C text. */
#include "backends/codegen/cstyle.h"

#include <math.h>
#include <string.h>

const char *c_memory(dtype d)
{
    static const char *const name[] = {"float",  "double",   "uint16_t", "uint16_t", "int64_t", "int32_t", "int16_t",
                                       "int8_t", "uint64_t", "uint32_t", "uint16_t", "uint8_t", "uint8_t"};
    return dtype_small(d) ? (dtype_class(d) == D_WHOLE && dtype_signed(d) ? "int8_t" : "uint8_t") : name[d];
}

const char *c_value(dtype d, bool wide)
{
    if (dtype_class(d) != D_REAL)
        return d == TS_BOOL ? "int" : c_memory(d);
    return d == TS_F64 || wide ? "double" : "float";
}

/* How reals that C has no type for are read and written; numbers as in graph/ir/small.c: bits of exponent and fraction,
 * bias, rule. */
static const struct {
    dtype dtype;
    const char *load, *store;
} converted[] = {
    {TS_F16, "half_to_float(", "float_to_half("},
    {TS_BF16, "bfloat_to_float(", "float_to_bfloat("},
    {TS_F8E4M3FN, "small_to_float(4, 3, 7, 1, ", "float_to_small(4, 3, 7, 1, "},
    {TS_F8E4M3FNUZ, "small_to_float(4, 3, 8, 2, ", "float_to_small(4, 3, 8, 2, "},
    {TS_F8E5M2, "small_to_float(5, 2, 15, 0, ", "float_to_small(5, 2, 15, 0, "},
    {TS_F8E5M2FNUZ, "small_to_float(5, 2, 16, 2, ", "float_to_small(5, 2, 16, 2, "},
    {TS_F8E8M0, "power_to_float(", "float_to_power("},
    {TS_F4E2M1, "small_to_float(2, 1, 1, 3, ", "float_to_small(2, 1, 1, 3, "},
};

const char *c_load(dtype d)
{
    for (int i = 0; i < COUNT(converted); i++)
        if (converted[i].dtype == d)
            return converted[i].load;
    return "";
}

const char *c_store(dtype d)
{
    for (int i = 0; i < COUNT(converted); i++)
        if (converted[i].dtype == d)
            return converted[i].store;
    return "";
}

/* Before an integer of any width, "(int8_t)(" or "small_whole(4, 1, ", and ")" behind it. */
static void open_narrow(text *t, dtype d)
{
    if (dtype_small(d))
        text_add(t, "small_whole(%d, %d, ", dtype_bits(d), dtype_signed(d));
    else
        text_add(t, "(%s)(", c_memory(d));
}

static bool is_real(const expr *x)
{
    return dtype_class(x->dtype) == D_REAL;
}

static bool is_double(const writer *w, dtype d)
{
    return !strcmp(c_value(d, w->wide), "double");
}

void c_literal(text *t, const expr *x, bool wide)
{
    if (!is_real(x)) {
        const int64_t v = x->whole;
        if (x->dtype == TS_U64 && v < 0)
            text_add(t, "%lluu", (unsigned long long)v);
        else if (v == INT64_MIN)
            text_add(t, "INT64_MIN");
        else
            text_add(t, v < 0 ? "(%lld)" : "%lld", (long long)v);
        return;
    }
    const bool narrow = strcmp(c_value(x->dtype, wide), "double") != 0;
    if (isnan(x->lit))
        text_add(t, "NAN");
    else if (isinf(x->lit))
        text_add(t, x->lit < 0 ? "(-INFINITY)" : "INFINITY");
    else {
        if (x->lit < 0 || (x->lit == 0 && signbit(x->lit)))
            text_add(t, "(");
        const size_t at = t->len;
        text_add(t, narrow ? "%.9g" : "%.17g", narrow ? (double)(float)x->lit : x->lit);
        if (!strpbrk(t->s + at, ".e"))
            text_add(t, ".0");
        text_add(t, "%s%s", narrow ? "f" : "", x->lit < 0 || (x->lit == 0 && signbit(x->lit)) ? ")" : "");
    }
}

static const char *spelled(const writer *w, const expr *x)
{
    const expr *arg = x->arg[x->fn->result == R_SECOND ? 1 : 0];
    const bool real = is_real(arg);
    for (const spelling *s = w->override; real && s && s->fn; s++)
        if (!strcmp(s->fn, x->fn->name) && s->narrow == !is_double(w, arg->dtype))
            return s->text;
    return fn_spelled(x->fn, arg->dtype);
}

static void write_call(writer *w, text *t, const expr *x)
{
    const bool narrow = !is_double(w, x->arg[x->fn->result == R_SECOND ? 1 : 0]->dtype);
    const bool wraps = dtype_class(x->dtype) == D_WHOLE && x->dtype != TS_I64 && x->fn->result == R_SAME;
    if (wraps && dtype_small(x->dtype))
        open_narrow(t, x->dtype);
    else if (wraps)
        text_add(t, "(%s)", c_memory(x->dtype));
    for (const char *s = spelled(w, x); *s; s++) {
        if (*s == '@')
            text_add(t, "%s", narrow ? "f" : "");
        else if (*s == '$')
            c_expr(w, t, x->arg[*++s - '0']);
        else
            text_bytes(t, s, 1);
    }
    if (wraps && dtype_small(x->dtype))
        text_add(t, ")");
}

static void write_cast(writer *w, text *t, const expr *x)
{
    const expr *a = x->arg[0];
    if (x->dtype == TS_BOOL)
        text_add(t, "("), c_expr(w, t, a), text_add(t, " != 0)");
    else if (is_real(x)) {
        const bool rounds = *c_load(x->dtype) && !w->wide,
                   wider = is_real(a) ? a->dtype == TS_F64 : dtype_bits(a->dtype) > 16;
        if (rounds)
            text_add(t, "%s%s%s(", c_load(x->dtype), c_store(x->dtype), wider ? "odd_float" : "(float)");
        else
            text_add(t, "(%s)(", c_value(x->dtype, w->wide));
        c_expr(w, t, a);
        text_add(t, rounds ? ")))" : ")");
    } else if (is_real(a)) {                      /* truncates; saturates where C would be undefined */
        const bool small = dtype_small(x->dtype); /* these wrap */
        open_narrow(t, x->dtype);
        text_add(t, "real_to_whole((double)("), c_expr(w, t, a);
        text_add(t, "), %d, %d))", small ? 64 : dtype_bits(x->dtype), small || dtype_signed(x->dtype));
    } else
        open_narrow(t, x->dtype), c_expr(w, t, a), text_add(t, ")");
}

void c_expr(writer *w, text *t, const expr *x)
{
    for (int i = 0; i < w->n_known; i++)
        if (w->known[i].x == x && w->known[i].temp >= 0) {
            text_add(t, "t%d", w->known[i].temp);
            return;
        }
    switch (x->kind) {
    case X_LIT: c_literal(t, x, w->wide); break;
    case X_AXIS: w->axis(w->user, t, x->axis); break;
    case X_LOAD: w->load(w->user, t, x); break;
    case X_FOLD: w->fold(w->user, t, x); break;
    case X_CALL: write_call(w, t, x); break;
    case X_CAST: write_cast(w, t, x); break;
    case X_STATE: text_add(t, "s%d%s", x->axis, w->state); break;
    case X_SCATTER:
    case X_SCAN:
    case X_ROUTINE: MUST(!"part of an expression"); break;
    }
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
    if (x->kind == X_LIT || x->kind == X_AXIS || x->kind == X_STATE)
        return;
    while (i < w->n_known && w->known[i].x != x)
        i++;
    const bool again = i < w->n_known;
    if (!again) {
        if (w->n_known == COUNT(w->known))
            return;
        w->known[w->n_known].x = x, w->known[w->n_known++].temp = -1;
    }
    if (!lazy)
        w->known[i].temp -= times; /* below -2: used at least twice where it is always computed */
    if (again || x->kind == X_LOAD || x->kind == X_FOLD)
        return;
    for (int k = 0; k < x->n; k++) {
        const bool select = x->kind == X_CALL && x->fn->result == R_SECOND && k > 0;
        count_uses(w, x->arg[k], x->kind == X_CALL ? uses_in(spelled(w, x), k) : 1, lazy || select);
    }
}

static void name_uses(writer *w, text *out, const expr *x)
{
    int i = 0;
    while (i < w->n_known && w->known[i].x != x)
        i++;
    if (i == w->n_known || w->known[i].temp >= 0 || x->kind == X_FOLD)
        return;
    if (x->kind != X_LOAD)
        for (int k = 0; k < x->n; k++)
            name_uses(w, out, x->arg[k]);
    if (w->known[i].temp > -3)
        return;
    text line = {0};
    c_expr(w, &line, x);
    w->known[i].temp = w->n_temp++;
    text_line(out, "const %s t%d = %s;", c_value(x->dtype, w->wide), w->known[i].temp, line.s);
    text_free(&line);
}

void c_temporaries(writer *w, text *out, const expr *x)
{
    w->n_known = 0;
    count_uses(w, x, 1, false);
    name_uses(w, out, x);
}
