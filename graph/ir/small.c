/* small.c - one table of formats, one pair of functions for all; backends/codegen/library.c has the same in f32. */
#include "graph/ir/small.h"

#include <math.h>

static const small table[] = {
    {TS_F8E4M3FN, 4, 3, 7, SMALL_FN},      {TS_F8E4M3FNUZ, 4, 3, 8, SMALL_FNUZ}, {TS_F8E5M2, 5, 2, 15, SMALL_IEEE},
    {TS_F8E5M2FNUZ, 5, 2, 16, SMALL_FNUZ}, {TS_F8E8M0, 8, 0, 127, SMALL_POWER},  {TS_F4E2M1, 2, 1, 1, SMALL_FINITE},
};

const small *small_of(dtype d)
{
    for (int i = 0; i < COUNT(table); i++)
        if (table[i].dtype == d)
            return &table[i];
    return NULL;
}

/* The largest pattern of a finite value, without its sign. */
static int most(const small *f)
{
    const int all = (1 << (f->exponent + f->fraction)) - 1;
    return f->rule == SMALL_IEEE                           ? all - (1 << f->fraction)
           : f->rule == SMALL_FN || f->rule == SMALL_POWER ? all - 1
                                                           : all;
}

static double plain(const small *f, int rest)
{
    const int place = rest >> f->fraction, part = rest & ((1 << f->fraction) - 1), one = 1 << f->fraction;
    if (f->rule == SMALL_POWER)
        return ldexp(1, rest - f->bias);
    return place ? ldexp(part + one, place - f->bias - f->fraction) : ldexp(part, 1 - f->bias - f->fraction);
}

double small_highest(const small *f)
{
    return plain(f, most(f));
}

double small_load(const small *f, uint8_t bits)
{
    const int sign = 1 << (f->exponent + f->fraction), rest = bits & (sign - 1);
    const bool negative = f->rule != SMALL_POWER && bits & sign;
    if ((f->rule == SMALL_FNUZ && negative && !rest) || (f->rule == SMALL_IEEE && rest > most(f) + 1) ||
        (f->rule != SMALL_IEEE && rest > most(f)))
        return (double)NAN;
    const double v = rest > most(f) ? (double)INFINITY : plain(f, rest);
    return negative ? -v : v;
}

static uint8_t store_power(const small *f, double v)
{
    int power;
    const double m = frexp(fabs(v), &power); /* in [0.5, 1) */
    if (isnan(v))
        return 255;
    const int place = v == 0 ? 0 : isinf(v) ? most(f) : power - (m == 0.5) + f->bias;
    return (uint8_t)(place < 0 ? 0 : place > most(f) ? most(f) : place);
}

/* What stands for everything too large, or for NaN, without its sign. */
static int beyond(const small *f, bool nan)
{
    const int all = (1 << (f->exponent + f->fraction)) - 1;
    return f->rule == SMALL_FINITE ? (nan ? 0 : all) : f->rule == SMALL_IEEE && !nan ? most(f) + 1 : all;
}

uint8_t small_store(const small *f, double v)
{
    const int sign = 1 << (f->exponent + f->fraction), least = 1 - f->bias;
    int power, rest = 0;
    if (f->rule == SMALL_POWER)
        return store_power(f, v);
    const double size = fabs(v);
    bool over = isnan(v) || size > 2 * small_highest(f);
    if (!over) {
        (void)frexp(size, &power);
        const int place = size == 0 || power - 1 < least ? least : power - 1;
        rest = ((place - least) << f->fraction) + (int)nearbyint(ldexp(size, f->fraction - place));
        over = rest > most(f);
    }
    if (f->rule == SMALL_FNUZ) /* no -0: its bits are NaN */
        return (uint8_t)(over ? sign : rest && signbit(v) ? rest | sign : rest);
    if (over)
        rest = beyond(f, isnan(v));
    return (uint8_t)(signbit(v) ? rest | sign : rest);
}
