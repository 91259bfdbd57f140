/* bits.c - the bits of reals as integers, and back. parameter: how many, the format's bits of exponent and of fraction.
 * Of formats narrower than f32 the values come as f32; what does not fit them is cut off. Each NaN of these has the
 * same bits. */
#include <math.h>
#include <stdint.h>
#include <string.h>
#ifndef ROUTINE
#define ROUTINE
#endif

static int64_t bits_of_narrow(double v, int exponent, int fraction)
{
    const int64_t one = 1, sign = signbit(v) ? one << (exponent + fraction) : 0;
    const int64_t most = ((one << exponent) - 1) << fraction; /* infinity */
    const int bias = (1 << (exponent - 1)) - 1;
    int power;
    if (v != v)
        return sign | most | one << (fraction - 1);
    const double m = frexp(fabs(v), &power) * 2; /* in [1, 2), or 0 */
    const int place = power - 1 + bias;
    if (isinf(v) || place >= (1 << exponent) - 1)
        return sign | most;
    if (m > 0 && place > 0)
        return sign | (int64_t)place << fraction | (int64_t)ldexp(m - 1, fraction);
    return sign | (int64_t)ldexp(fabs(v), bias - 1 + fraction);
}

static double value_of_narrow(int64_t bits, int exponent, int fraction)
{
    const int64_t one = 1, part = bits & ((one << fraction) - 1);
    const int place = (int)(bits >> fraction & ((one << exponent) - 1)), bias = (1 << (exponent - 1)) - 1;
    double v = ldexp((double)part, 1 - bias - fraction);
    if (place == (1 << exponent) - 1)
        v = part ? (double)NAN : (double)INFINITY;
    else if (place > 0)
        v = ldexp((double)(part + (one << fraction)), place - bias - fraction);
    return bits >> (exponent + fraction) & 1 ? -v : v;
}

static int64_t bits_of(const void *from, char type, int64_t i, int exponent, int fraction)
{
    const double v = type == 'f' ? (double)((const float *)from)[i] : ((const double *)from)[i];
    int64_t wide;
    uint32_t half;
    float narrow;
    if (fraction == 52) {
        memcpy(&wide, &v, sizeof wide);
        return wide;
    }
    if (fraction != 23)
        return bits_of_narrow(v, exponent, fraction);
    if (type == 'f')
        memcpy(&half, (const float *)from + i, sizeof half);
    else
        narrow = (float)v, memcpy(&half, &narrow, sizeof half);
    return half;
}

static void value_of(void *to, char type, int64_t i, int64_t bits, const int64_t *parameter)
{
    const int exponent = (int)parameter[1], fraction = (int)parameter[2];
    const uint32_t half = (uint32_t)bits;
    float narrow;
    double wide;
    if (fraction == 52)
        memcpy(&wide, &bits, sizeof wide);
    else if (fraction == 23)
        memcpy(&narrow, &half, sizeof narrow), wide = (double)narrow;
    else
        wide = value_of_narrow(bits, exponent, fraction);
    if (type == 'f' && fraction == 23)
        memcpy((float *)to + i, &half, sizeof half);
    else if (type == 'f')
        ((float *)to)[i] = (float)wide;
    else
        ((double *)to)[i] = wide;
}

ROUTINE void routine_bits(void *const *at, const char *types, const int64_t *parameter, char *scratch, long part,
                          long parts)
{
    (void)scratch;
    for (int64_t i = parameter[0] * part / parts; i < parameter[0] * (part + 1) / parts; i++)
        if (types[1] == 'l')
            ((int64_t *)at[1])[i] = bits_of(at[0], types[0], i, (int)parameter[1], (int)parameter[2]);
        else
            value_of(at[1], types[1], i, ((const int64_t *)at[0])[i], parameter);
}
