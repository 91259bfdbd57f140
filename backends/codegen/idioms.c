/* idioms.c - compositions that have a function of their own, or say nothing, in place of what they are written in. */
#include "backends/codegen/emit.h"

#include <math.h>
#include <string.h>

/* 1 + erf(x), the normal distribution inside GELU: near 0 it needs none of erf's relative precision. */
static const fn one_and_erf = {.name = "one_and_erf", .arity = 1, .result = R_SAME, .c_real = "one_and_erf($0)"};
/* x (1 + erf(x / sqrt(2))) / 2: two products and a comparison less than by its parts */
static const fn fast_gelu = {.name = "fast_gelu", .arity = 1, .result = R_SAME, .c_real = "fast_gelu($0)"};

/* x / s for quotients that become whole numbers of at most 17 bits: it may differ from division in bits that those do
 * not tell apart. */
static const fn quotient = {.name = "quotient", .arity = 2, .result = R_SAME, .c_real = "quotient($0, $1)"};
/* A whole number near x, minus n: adding 1.5 * 2^23 leaves no fraction in f32. Zeros come out positive. It costs no
 * more than rounding, which takes some processors two steps, and makes the subtraction free. */
enum { NEAR = 3 << 22 };
static const fn near = {.name = "near", .arity = 2, .result = R_SAME, .c_real = "(($0 + 12582912.0f) - $1)"};
/* max(x, a number), which also turns NaN into that number */
static double larger(const double *x)
{
    return x[0] > x[1] ? x[0] : x[1];
}
static const fn above = {.name = "above", .arity = 2, .result = R_SAME, .real = larger, .c_real = "above($0, $1)"};

/* Division of an argument by a constant becomes a product: its rounding error is within the function's own. */
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

static const expr *called(arena *mem, const expr *x, const fn *f, const expr *const *arg) /* in place of x, a call */
{
    expr *y = arena_get(mem, sizeof *y);
    const expr **args = arena_array(mem, (size_t)f->arity, sizeof *args);
    memcpy(args, arg, (size_t)f->arity * sizeof *args);
    *y = *x, y->fn = f, y->n = f->arity, y->arg = args;
    return y;
}

static const expr *one_and_erf_of(arena *mem, const expr *x)
{
    if (x_is_call(x, "erf") && x_is_call(x->arg[0], "div"))
        return x1(mem, "erf", multiplied(mem, x->arg[0]));
    for (int i = 0; i < 2 && x_is_call(x, "add"); i++)
        if (x_is_call(x->arg[i], "erf") && is_number(x->arg[1 - i], 1, 0))
            return called(mem, x, &one_and_erf, x->arg[i]->arg);
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
                return called(mem, x, &fast_gelu, &t);
    }
    return x;
}

/* A whole number wherever it is a number */
static bool is_whole(const expr *x)
{
    static const char *const round[] = {"round", "floor", "ceil", "trunc"}, *const keep[] = {"add", "sub", "max", "min",
                                                                                             "above"};
    bool all = x->kind == X_LIT ? x->lit == rint(x->lit) : x->kind == X_CAST && dtype_class(x->arg[0]->dtype) != D_REAL;
    for (int i = 0; i < COUNT(round) && !all; i++)
        all = x_is_call(x, round[i]);
    for (int i = 0; i < COUNT(keep) && !all; i++)
        all = x_is_call(x, keep[i]) && is_whole(x->arg[0]) && is_whole(x->arg[1]);
    return all || (x->kind == X_CAST && is_whole(x->arg[0]));
}

/* min(max(..., least), most), both of them whole numbers of that dtype: to be turned into it changes nothing */
static bool is_within(const expr *x, dtype d)
{
    const double most = ldexp(1, dtype_bits(d) - dtype_signed(d)) - 1, least = dtype_signed(d) ? -most - 1 : 0;
    const bool clipped = x_is_call(x, "min") && (x_is_call(x->arg[0], "max") || x_is_call(x->arg[0], "above"));
    const expr *low = clipped ? x->arg[0]->arg[1] : x, *high = clipped ? x->arg[1] : x;
    return low->kind == X_LIT && high->kind == X_LIT && low->lit >= least && high->lit <= most;
}

/* min(max(y, least), most) where what is no number is 0 */
static const expr *numbered(arena *mem, const expr *x)
{
    const expr *y = x->arg[0]->arg[0], *least = x->arg[0]->arg[1];
    if (least->lit == 0 && x->dtype == TS_F32)
        return x2(mem, "min", called(mem, x->arg[0], &above, (const expr *[]){y, least}), x->arg[1]);
    return x3(mem, "select", x1(mem, "isnan", x), x_cast(mem, x->dtype, x_real(mem, 0)), x);
}

/* Drops conversions there and back: of f32 through f64, and of a real through the integer type whose number it already
 * is (NaN excepted). */
static const expr *round_trip(void *user, const expr *x)
{
    const expr *by = x->kind == X_CAST ? x->arg[0] : x, *of = by->kind == X_CAST ? by->arg[0] : x;
    if (x->dtype == TS_U8 && by->dtype == TS_F32 && x_is_call(by, "min") && is_within(by, TS_U8))
        return x_cast(user, TS_U8, numbered(user, by));
    if (of == x || dtype_class(x->dtype) != D_REAL || of->dtype != x->dtype)
        return x;
    if (by->dtype == TS_F64 && x->dtype == TS_F32)
        return of;
    const bool same = dtype_class(by->dtype) == D_WHOLE && dtype_bits(by->dtype) <= 16 && is_within(of, by->dtype) &&
                      is_whole(of);
    return same ? numbered(user, of) : x;
}

const expr *without_round_trips(emitter *m, const expr *x)
{
    return m->p->reference ? x : x_map(m->mem, x, round_trip, m->mem);
}

static const expr *real_number(arena *mem, double v)
{
    return x_cast(mem, TS_F32, x_real(mem, v));
}

/* min(max(round(x / s) + zero, low), high), all but x numbers: where x is limited instead, its quotient is of few bits,
 * and takes three instructions in place of a division, by which the processor is busy for as long as by ten. */
static const expr *rounded_of(arena *mem, const expr *x)
{
    static const char *const chain[] = {"min", "max", "add", "round", "div"};
    const expr *of = x, *by[COUNT(chain)] = {0};
    for (int i = 0; i < COUNT(chain); of = of->arg[0], i++) {
        if (!x_is_call(of, chain[i]) && !(i == 1 && x_is_call(of, "above")))
            return x;
        by[i] = of->n > 1 ? x_uncast(of->arg[1]) : NULL;
        if (by[i] && by[i]->kind != X_LIT)
            return x;
    }
    const float s = (float)by[4]->lit, zero = (float)by[2]->lit;
    const double low = by[1]->lit - zero, high = by[0]->lit - zero;
    if (!(s > 1e-30f && s < 1e30f && low >= -0x1p17 && low <= high && high <= 0x1p17) || zero != rintf(zero) ||
        fabsf(zero) > 0x1p17f)
        return x;
    const expr *least = called(mem, x->arg[0], x->arg[0]->fn, (const expr *[]){of, real_number(mem, low * s)});
    const expr *within = x2(mem, "min", least, real_number(mem, high * s));
    const expr *of_s = s == 1 ? within : called(mem, x, &quotient, (const expr *[]){within, real_number(mem, s)});
    return called(mem, x, &near, (const expr *[]){of_s, real_number(mem, NEAR - zero)});
}

/* (round(x / s) + zero) - zero, which is exact: as if that zero were 0 */
static const expr *without_zero(arena *mem, const expr *x)
{
    const expr *sum = x_is_call(x, "sub") && x_is_call(x->arg[0], "near") ? x->arg[0] : NULL;
    const bool same = sum && is_number(x_uncast(x->arg[1]), NEAR - x_uncast(sum->arg[1])->lit, 0);
    return same ? called(mem, x, &near, (const expr *[]){sum->arg[0], real_number(mem, NEAR)}) : x;
}

/* The least and the most that x can be, which is a number; false: it is not known. */
static bool between(const expr *x, double *low, double *high)
{
    const expr *by = x->kind == X_CALL && x->n == 2 ? x_uncast(x->arg[1]) : NULL;
    if (by && by->kind != X_LIT)
        return false;
    if (x_is_call(x, "min") && x_is_call(x->arg[0], "above") && x_uncast(x->arg[0]->arg[1])->kind == X_LIT) {
        *low = x_uncast(x->arg[0]->arg[1])->lit, *high = by->lit;
        return *low <= *high;
    }
    const bool shared = x_is_call(x, "quotient") && by && by->lit > 0; /* by less than 0 the two would change places */
    const bool known = (x_is_call(x, "near") || shared) && between(x->arg[0], low, high);
    if (known && x_is_call(x, "near"))
        *low = rint(*low) + NEAR - by->lit, *high = rint(*high) + NEAR - by->lit;
    else if (known)
        *low /= by->lit, *high /= by->lit;
    return known;
}

bool stays_between(const expr *x, double low, double high)
{
    double least, most;
    return between(x, &least, &most) && least >= low && most <= high;
}

static const expr *idiom(void *user, const expr *x)
{
    return x->dtype == TS_F32 ? without_zero(user, rounded_of(user, gelu_of(user, one_and_erf_of(user, x)))) : x;
}

const expr *idioms_value(emitter *m, writer *w, const expr *x)
{
    (void)w;
    return m->p->reference ? x : x_map(m->mem, x, idiom, m->mem);
}
