/* element.c - one element between memory and the two computing classes, for every data type. The half types are kept as
 * bits: sign, exponent, mantissa, with the exponent biased as in every IEEE format; one pair of functions serves both.
 */
#include "graph/ir/small.h"

#include <math.h>
#include <string.h>

typedef struct half {
    int exponent, mantissa; /* bits of each */
} half;
static const half F16 = {5, 10}, BF16 = {8, 7};

static double bits_double(uint64_t b)
{
    double v;
    memcpy(&v, &b, sizeof v);
    return v;
}

static double half_load(half f, uint16_t bits)
{
    int bias = (1 << (f.exponent - 1)) - 1, top = (1 << f.exponent) - 1;
    uint64_t sign = (uint64_t)(bits >> 15) << 63, mantissa = bits & ((1U << f.mantissa) - 1);
    int exponent = bits >> f.mantissa & top;
    if (exponent == 0) { /* zero and subnormals: mantissa units of the smallest step; exact in double */
        double unit = bits_double((uint64_t)(1 - bias - f.mantissa + 1023) << 52);
        return sign ? -((double)mantissa * unit) : (double)mantissa * unit;
    }
    uint64_t wide = exponent == top ? 0x7FF : (uint64_t)(exponent - bias + 1023);
    return bits_double(sign | wide << 52 | mantissa << (52 - f.mantissa));
}

/* Rounds once, from the double, to nearest even. A carry out of the mantissa moves the exponent up by itself, from
 * subnormal to normal and from the largest value to infinity alike. */
static uint16_t half_store(half f, double v)
{
    uint64_t b;
    memcpy(&b, &v, sizeof b);
    int bias = (1 << (f.exponent - 1)) - 1;
    uint32_t sign = (uint32_t)(b >> 63) << 15, infinite = ((1U << f.exponent) - 1) << f.mantissa;
    int exponent = (int)(b >> 52 & 0x7FF) - 1023;
    uint64_t mantissa = b & ((UINT64_C(1) << 52) - 1);
    if (isnan(v)) /* quiet, with the leading payload bits */
        return (uint16_t)(sign | infinite | 1U << (f.mantissa - 1) | (uint32_t)(mantissa >> (52 - f.mantissa)));
    if (exponent > bias)
        return (uint16_t)(sign | infinite);
    int below = exponent < 1 - bias ? 1 - bias - exponent : 0; /* binary places under the smallest normal */
    int shift = 52 - f.mantissa + below;
    if (shift > 53) /* less than half of the smallest subnormal; doubles that are subnormal themselves end here too */
        return (uint16_t)sign;
    mantissa |= UINT64_C(1) << 52;
    uint64_t kept = mantissa >> shift, rest = mantissa & ((UINT64_C(1) << shift) - 1), tie = UINT64_C(1) << (shift - 1);
    kept += rest > tie || (rest == tie && (kept & 1));
    uint32_t lead = below ? 0 : (uint32_t)(exponent + bias - 1) << f.mantissa; /* kept holds the leading one itself */
    return (uint16_t)(sign | (lead + (uint32_t)kept));
}

/* Truncates toward zero; what does not fit becomes the nearest bound, NaN zero. high is exclusive: a power of two,
 * exact. */
static int64_t saturate(double v, int64_t low, int64_t most, double high)
{
    if (isnan(v))
        return 0;
    return v <= (double)low ? low : v >= high ? most : (int64_t)v;
}

static uint64_t saturate_u64(double v)
{
    return isnan(v) || v <= 0 ? 0 : v >= 0x1p64 ? UINT64_MAX : (uint64_t)v;
}

/* Tensors may lie anywhere in a mapped file, so elements are read byte by byte; compilers make one load of it. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tensors are kept as the files have them: little-endian");
static uint64_t bits_at(const void *p, int64_t i, size_t size)
{
    uint64_t bits = 0;
    memcpy(&bits, (const char *)p + i * (int64_t)size, size);
    return bits;
}

static double float_at(const void *p, int64_t i)
{
    float v;
    memcpy(&v, (const char *)p + i * (int64_t)sizeof v, sizeof v);
    return (double)v;
}

double load_real(dtype d, const void *p, int64_t i)
{
    switch (d) {
    case TS_F32: return float_at(p, i);
    case TS_F64: return bits_double(bits_at(p, i, 8));
    case TS_F16: return half_load(F16, (uint16_t)bits_at(p, i, 2));
    case TS_BF16: return half_load(BF16, (uint16_t)bits_at(p, i, 2));
    case TS_U64: return (double)bits_at(p, i, 8);
    default: break;
    }
    const small *f = small_of(d);
    return f ? small_load(f, (uint8_t)bits_at(p, i, 1)) : (double)load_whole(d, p, i);
}

/* The low bits of v, of which the highest is a sign if d has one. */
static int64_t low_bits(dtype d, int64_t v)
{
    const int above = 64 - dtype_bits(d);
    const uint64_t up = (uint64_t)v << above;
    return dtype_signed(d) ? (int64_t)up >> above : (int64_t)(up >> above);
}

int64_t load_whole(dtype d, const void *p, int64_t i)
{
    switch (d) {
    case TS_I64: return (int64_t)bits_at(p, i, 8);
    case TS_I32: return (int32_t)bits_at(p, i, 4);
    case TS_I16: return (int16_t)bits_at(p, i, 2);
    case TS_I8: return (int8_t)bits_at(p, i, 1);
    case TS_U64: return (int64_t)bits_at(p, i, 8);
    case TS_U32: return (int64_t)bits_at(p, i, 4);
    case TS_U16: return (int64_t)bits_at(p, i, 2);
    case TS_U8: return (int64_t)bits_at(p, i, 1);
    case TS_BOOL: return bits_at(p, i, 1) != 0;
    case TS_I4:
    case TS_U4:
    case TS_I2:
    case TS_U2: return low_bits(d, (int64_t)bits_at(p, i, 1));
    default: return saturate(load_real(d, p, i), INT64_MIN, INT64_MAX, 0x1p63);
    }
}

void store_real(dtype d, void *p, int64_t i, double v)
{
    switch (d) {
    case TS_F32: ((float *)p)[i] = (float)v; return;
    case TS_F64: ((double *)p)[i] = v; return;
    case TS_F16: ((uint16_t *)p)[i] = half_store(F16, v); return;
    case TS_BF16: ((uint16_t *)p)[i] = half_store(BF16, v); return;
    case TS_I64: store_whole(d, p, i, saturate(v, INT64_MIN, INT64_MAX, 0x1p63)); return;
    case TS_I32: store_whole(d, p, i, saturate(v, INT32_MIN, INT32_MAX, 0x1p31)); return;
    case TS_I16: store_whole(d, p, i, saturate(v, INT16_MIN, INT16_MAX, 0x1p15)); return;
    case TS_I8: store_whole(d, p, i, saturate(v, INT8_MIN, INT8_MAX, 0x1p7)); return;
    case TS_U64: ((uint64_t *)p)[i] = saturate_u64(v); return;
    case TS_U32: store_whole(d, p, i, saturate(v, 0, UINT32_MAX, 0x1p32)); return;
    case TS_U16: store_whole(d, p, i, saturate(v, 0, UINT16_MAX, 0x1p16)); return;
    case TS_U8: store_whole(d, p, i, saturate(v, 0, UINT8_MAX, 0x1p8)); return;
    case TS_BOOL: ((uint8_t *)p)[i] = v != 0; return; /* NaN is true, as in numpy */
    case TS_I4:
    case TS_U4:
    case TS_I2:
    case TS_U2: store_whole(d, p, i, saturate(v, INT64_MIN, INT64_MAX, 0x1p63)); return; /* as in ml_dtypes: wraps */
    default: break;
    }
    const small *f = small_of(d);
    MUST(f);
    ((uint8_t *)p)[i] = small_store(f, v);
}

/* Integers of more than 53 bits on their way to a half type: the bits that a double would round are folded into the
 * lowest one kept (round to odd), so that the second rounding still sees on which side of a tie the value lies. */
static double whole_for_half(int64_t v)
{
    if (v > -(INT64_C(1) << 53) && v < INT64_C(1) << 53)
        return (double)v;
    uint64_t low = (uint64_t)v & 0x7FF;
    return (double)(int64_t)(((uint64_t)v & ~UINT64_C(0x7FF)) | (low ? 0x800 : 0));
}

void store_whole(dtype d, void *p, int64_t i, int64_t v)
{
    switch (d) {
    case TS_F32: ((float *)p)[i] = (float)v; return;
    case TS_F64: ((double *)p)[i] = (double)v; return;
    case TS_F16: ((uint16_t *)p)[i] = half_store(F16, whole_for_half(v)); return;
    case TS_BF16: ((uint16_t *)p)[i] = half_store(BF16, whole_for_half(v)); return;
    case TS_I64: ((int64_t *)p)[i] = v; return;
    case TS_I32: ((int32_t *)p)[i] = (int32_t)v; return; /* narrowing keeps the low bits: gcc and clang define it so */
    case TS_I16: ((int16_t *)p)[i] = (int16_t)v; return;
    case TS_I8: ((int8_t *)p)[i] = (int8_t)v; return;
    case TS_U64: ((uint64_t *)p)[i] = (uint64_t)v; return;
    case TS_U32: ((uint32_t *)p)[i] = (uint32_t)v; return;
    case TS_U16: ((uint16_t *)p)[i] = (uint16_t)v; return;
    case TS_U8: ((uint8_t *)p)[i] = (uint8_t)v; return;
    case TS_BOOL: ((uint8_t *)p)[i] = v != 0; return;
    case TS_I4:
    case TS_U4:
    case TS_I2:
    case TS_U2: ((uint8_t *)p)[i] = (uint8_t)low_bits(d, v); return;
    default: break;
    }
    const small *f = small_of(d);
    MUST(f);
    ((uint8_t *)p)[i] = small_store(f, (double)v);
}
