/* idiom.c - compositions that have a function of their own, or say nothing, in place of what they are written in. */
#include "backends/codegen/emit.h"

#include <math.h>
#include <string.h>

/* 1 + erf(x), the normal distribution inside GELU: near 0 it needs none of erf's relative precision. */
static const fn one_and_erf = {.name = "one_and_erf", .arity = 1, .result = R_SAME, .c_real = "one_and_erf($0)"};
/* x (1 + erf(x / sqrt(2))) / 2: two products and a comparison less than by its parts */
static const fn fast_gelu = {.name = "fast_gelu", .arity = 1, .result = R_SAME, .c_real = "fast_gelu($0)"};

/* The rounding of an argument is within the function's error: its division by a number becomes a product. */
static const expr *multiplied(arena *mem, const expr *x)
{
    const expr *by = x_is_call(x, "div") && x->arg[1]->kind == X_LIT ? x->arg[1] : NULL;
    const double r = by ? 1 / by->lit : 0;
    return fabs(r) > 1e-30 && fabs(r) < 1e30 ? x2(mem, "mul", x->arg[0], x_cast(mem, TS_F32, x_real(mem, r))) : x;
}

static bool is_number(const expr *x, double v, double within)
{
    return x->kind == X_LIT && fabs(x->lit - v) <= within;
}

static const expr *called(arena *mem, const expr *x, const fn *f, const expr *arg) /* in place of x, a call */
{
    expr *y = arena_get(mem, sizeof *y);
    const expr **args = arena_array(mem, 1, sizeof *args);
    *y = *x, *args = arg;
    y->fn = f, y->n = 1, y->arg = args;
    return y;
}

static const expr *one_and_erf_of(arena *mem, const expr *x)
{
    for (int i = 0; i < 2 && x_is_call(x, "add"); i++)
        if (x_is_call(x->arg[i], "erf") && is_number(x->arg[1 - i], 1, 0))
            return called(mem, x, &one_and_erf, multiplied(mem, x->arg[i]->arg[0]));
    return x;
}

/* Half of a product with 1 + erf, whichever two of the three are multiplied first */
static const expr *gelu_of(arena *mem, const expr *x)
{
    for (int i = 0; i < 2 && x_is_call(x, "mul"); i++) {
        if (!x_is_call(x->arg[i], "mul"))
            continue;
        const expr *of[] = {x->arg[1 - i], x->arg[i]->arg[0], x->arg[i]->arg[1]};
        int half = -1, erf = -1;
        for (int k = 0; k < 3; k++)
            if (is_number(of[k], 0.5, 0))
                half = k;
            else if (x_is_call(of[k], "one_and_erf") && x_is_call(of[k]->arg[0], "mul"))
                erf = k;
        if (half < 0 || erf < 0)
            continue;
        const expr *t = of[3 - half - erf], *const *u = of[erf]->arg[0]->arg;
        for (int k = 0; k < 2; k++)
            if (is_number(u[k], sqrt(0.5), 1e-7) && x_same(u[1 - k], t))
                return called(mem, x, &fast_gelu, t);
    }
    return x;
}

/* A whole number wherever it is a number */
static bool is_whole(const expr *x)
{
    static const char *const round[] = {"round", "floor", "ceil", "trunc"}, *const keep[] = {"add", "sub", "max",
                                                                                             "min"};
    bool all = x->kind == X_LIT ? x->lit == rint(x->lit) : x->kind == X_CAST && dtype_class(x->arg[0]->dtype) != D_REAL;
    for (int i = 0; i < 4 && !all; i++)
        all = x_is_call(x, round[i]) || (x_is_call(x, keep[i]) && is_whole(x->arg[0]) && is_whole(x->arg[1]));
    return all || (x->kind == X_CAST && is_whole(x->arg[0]));
}

/* min(max(..., least), most), both of them whole numbers of that dtype: to be turned into it changes nothing */
static bool is_within(const expr *x, dtype d)
{
    const double most = ldexp(1, dtype_bits(d) - dtype_signed(d)) - 1, least = dtype_signed(d) ? -most - 1 : 0;
    const bool clipped = x_is_call(x, "min") && x_is_call(x->arg[0], "max");
    const expr *low = clipped ? x->arg[0]->arg[1] : x, *high = clipped ? x->arg[1] : x;
    return low->kind == X_LIT && high->kind == X_LIT && low->lit >= least && high->lit <= most;
}

/* Conversions there and back: an f32 by way of f64, to be rounded where others compute in more than that; a real by way
 * of a whole number that it is already, but for what is no number. */
static const expr *round_trip(void *user, const expr *x)
{
    const expr *by = x->kind == X_CAST ? x->arg[0] : x, *of = by->kind == X_CAST ? by->arg[0] : x;
    if (of == x || dtype_class(x->dtype) != D_REAL || of->dtype != x->dtype)
        return x;
    if (by->dtype == TS_F64 && x->dtype == TS_F32)
        return of;
    const bool same = dtype_class(by->dtype) == D_WHOLE && dtype_bits(by->dtype) <= 16 && is_within(of, by->dtype) &&
                      is_whole(of);
    return same ? x3(user, "select", x1(user, "isnan", of), x_cast(user, x->dtype, x_real(user, 0)), of) : x;
}

const expr *without_round_trips(emitter *m, const expr *x)
{
    return m->p->reference ? x : x_map(m->mem, x, round_trip, m->mem);
}

static const expr *idiom(void *user, const expr *x)
{
    return x->dtype == TS_F32 ? gelu_of(user, one_and_erf_of(user, x)) : x;
}

const expr *with_idioms(emitter *m, const expr *x)
{
    return m->p->reference ? x : x_map(m->mem, x, idiom, m->mem);
}
