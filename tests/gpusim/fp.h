/* fp.h - conversions between the floating-point formats of PTX.
 * Narrowing to f16 and to f32 follows the rounding mode set in MXCSR. */
#ifndef SIM_FP_H
#define SIM_FP_H

#include <immintrin.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t f2u(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}
static inline float u2f(uint32_t u)
{
    float f;
    memcpy(&f, &u, 4);
    return f;
}
static inline uint64_t d2u(double f)
{
    uint64_t u;
    memcpy(&u, &f, 8);
    return u;
}
static inline double u2d(uint64_t u)
{
    double f;
    memcpy(&f, &u, 8);
    return f;
}

static inline float h2f(uint16_t h)
{
    return _cvtsh_ss(h);
}
static inline uint16_t f2h(float f)
{
    return _cvtss_sh(f, _MM_FROUND_CUR_DIRECTION);
}
static inline float bf2f(uint16_t h)
{
    return u2f((uint32_t)h << 16);
}

static inline uint16_t f2bf(float f) /* round to nearest even */
{
    uint32_t u = f2u(f);
    uint32_t r = (u + 0x7fff + (u >> 16 & 1)) >> 16;
    return f != f ? 0x7fff : (uint16_t)r;
}
static inline uint16_t f2bf_rz(float f)
{
    return f != f ? 0x7fff : (uint16_t)(f2u(f) >> 16);
}
static inline float f2tf32(float f) /* round to nearest, ties away, 10 bits */
{
    uint32_t u = f2u(f);
    return f != f ? u2f(0x7fffffff) : (u & 0x7f800000) == 0x7f800000 ? f : u2f((u + 0x1000) & 0xffffe000);
}

/* A float that keeps enough of x (a sticky last bit) for one later rounding to
 * a format of at most 22 bits to be the correct rounding of x. */
static inline float odd_float(double x)
{
    uint64_t u = d2u(x);
    if (x != x || (u & ~(1ull << 63)) == 0)
        return (float)x;
    if (fabs(x) < 0x1p-126)
        return fabs(x) < 0x1p-148 ? copysignf(0x1p-148f, (float)x) : (float)x;
    if (fabs(x) >= 0x1p127)
        return (float)x;
    uint64_t low = u & 0x1fffffff;
    u &= ~0x1fffffffull;
    if (low)
        u |= 0x20000000;
    return (float)u2d(u);
}
/* a*b + c for factors of at most 26 bits, as a double rounded to odd. */
static inline double fma_odd(double a, double b, double c)
{
    double p = a * b, s = p + c;
    if (!(fabs(s) < INFINITY))
        return s;
    double t = s - p, err = (p - (s - t)) + (c - t);
    if (err != 0 && !(d2u(s) & 1)) {
        int64_t step = (err > 0) == (s > 0) ? 1 : -1;
        s = u2d(d2u(s) + (uint64_t)step);
    }
    return s;
}
static inline uint16_t d2h(double x)
{
    return f2h(odd_float(x));
}
static inline uint16_t d2bf(double x)
{
    return f2bf(odd_float(x));
}

/* PTX min and max: a NaN loses to a number, and -0 is less than +0. */
static inline float fmin_ptx(float a, float b)
{
    float r = a < b ? a : b;
    r = a == b ? u2f(f2u(a) | f2u(b)) : r;
    return b != b ? a : r;
}
static inline float fmax_ptx(float a, float b)
{
    float r = a > b ? a : b;
    r = a == b ? u2f(f2u(a) & f2u(b)) : r;
    return b != b ? a : r;
}
static inline float fmin_nan(float a, float b)
{
    return a != a || b != b ? u2f(0x7fffffff) : fmin_ptx(a, b);
}
static inline float fmax_nan(float a, float b)
{
    return a != a || b != b ? u2f(0x7fffffff) : fmax_ptx(a, b);
}
static inline double dmin_ptx(double a, double b)
{
    return b != b ? a : a != a ? b : a < b ? a : b < a ? b : u2d(d2u(a) | d2u(b));
}
static inline double dmax_ptx(double a, double b)
{
    return b != b ? a : a != a ? b : a > b ? a : b > a ? b : u2d(d2u(a) & d2u(b));
}
#endif
