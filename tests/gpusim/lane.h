/* lane.h - one lane's element of a register, by types of PTX, and what expressions of alu.def call.
 *
 * Types of 16 bits lie in the low half of a register of 32; f16 and bf16 are computed in f32. Registers are the warp's,
 * and are borrowed for the call. */
#ifndef SIM_LANE_H
#define SIM_LANE_H
#include "tests/gpusim/fp.h"
#include "tests/gpusim/sim.h"

typedef uint16_t lane_u16;
typedef int16_t lane_s16;
typedef uint32_t lane_u32;
typedef int32_t lane_s32;
typedef uint64_t lane_u64;
typedef int64_t lane_s64;
typedef float lane_f32;
typedef double lane_f64;
typedef float lane_f16;
typedef float lane_bf16;

static inline uint16_t get_u16(const void *p, int l)
{
    return (uint16_t)((const uint32_t *)p)[l];
}
static inline int16_t get_s16(const void *p, int l)
{
    return (int16_t)((const uint32_t *)p)[l];
}
static inline uint32_t get_u32(const void *p, int l)
{
    return ((const uint32_t *)p)[l];
}
static inline int32_t get_s32(const void *p, int l)
{
    return ((const int32_t *)p)[l];
}
static inline uint64_t get_u64(const void *p, int l)
{
    return ((const uint64_t *)p)[l];
}
static inline int64_t get_s64(const void *p, int l)
{
    return ((const int64_t *)p)[l];
}
static inline float get_f32(const void *p, int l)
{
    return ((const float *)p)[l];
}
static inline double get_f64(const void *p, int l)
{
    return ((const double *)p)[l];
}
static inline float get_f16(const void *p, int l)
{
    return h2f(((const uint32_t *)p)[l]);
}
static inline float get_bf16(const void *p, int l)
{
    return bf2f(((const uint32_t *)p)[l]);
}
static inline void put_u16(void *p, int l, uint16_t v)
{
    ((uint32_t *)p)[l] = (uint16_t)v;
}
static inline void put_s16(void *p, int l, int16_t v)
{
    ((uint32_t *)p)[l] = (uint16_t)v;
}
static inline void put_u32(void *p, int l, uint32_t v)
{
    ((uint32_t *)p)[l] = v;
}
static inline void put_s32(void *p, int l, int32_t v)
{
    ((int32_t *)p)[l] = v;
}
static inline void put_u64(void *p, int l, uint64_t v)
{
    ((uint64_t *)p)[l] = v;
}
static inline void put_s64(void *p, int l, int64_t v)
{
    ((int64_t *)p)[l] = v;
}
static inline void put_f32(void *p, int l, float v)
{
    ((float *)p)[l] = v;
}
static inline void put_f64(void *p, int l, double v)
{
    ((double *)p)[l] = v;
}
static inline void put_f16(void *p, int l, float v)
{
    ((uint32_t *)p)[l] = f2h(v);
}
static inline void put_bf16(void *p, int l, float v)
{
    ((uint32_t *)p)[l] = f2bf(v);
}

/* Halves of a register */
static inline uint16_t of_u16(uint16_t v)
{
    return v;
}
static inline float of_f16(uint16_t v)
{
    return h2f(v);
}
static inline float of_bf16(uint16_t v)
{
    return bf2f(v);
}
static inline uint16_t as_u16(uint16_t v)
{
    return v;
}
static inline uint16_t as_f16(float v)
{
    return f2h(v);
}
static inline uint16_t as_bf16(float v)
{
    return f2bf(v);
}

/* ---- what expressions call ---- */
static inline int32_t sat_s32(int64_t v)
{
    return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int32_t)v;
}
static inline uint32_t bfind64(uint64_t v)
{
    return v ? 63 - (uint32_t)__builtin_clzll(v) : ~0u;
}
static inline uint32_t brev32(uint32_t v)
{
    v = (v >> 1 & 0x55555555) | (v & 0x55555555) << 1;
    v = (v >> 2 & 0x33333333) | (v & 0x33333333) << 2;
    v = (v >> 4 & 0x0f0f0f0f) | (v & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(v);
}
static inline uint64_t bfe(uint64_t a, uint32_t pos, uint32_t length, int bits, int is_signed)
{
    uint64_t r = 0;
    unsigned sign_at;
    pos &= 0xff;
    length &= 0xff;
    if (length == 0)
        return 0;
    sign_at = pos + length - 1 < (unsigned)bits - 1 ? pos + length - 1 : (unsigned)bits - 1;
    uint64_t sign = is_signed ? a >> sign_at & 1 : 0;
    for (unsigned i = 0; i < (unsigned)bits; i++) {
        uint64_t bit = i < length && pos + i < (unsigned)bits ? a >> (pos + i) & 1 : sign;
        r |= bit << i;
    }
    return r;
}
static inline uint64_t bfi(uint64_t a, uint64_t b, uint32_t pos, uint32_t length, int bits)
{
    pos &= 0xff;
    length &= 0xff;
    if (length == 0 || pos >= (unsigned)bits)
        return b;
    uint64_t ones = length >= 64 ? ~0ull : (1ull << length) - 1;
    return (b & ~(ones << pos)) | ((a & ones) << pos);
}
static inline uint32_t bmsk(uint32_t pos, uint32_t length)
{
    pos = pos > 32 ? 32 : pos;
    length = length > 32 ? 32 : length;
    uint64_t ones = ((1ull << length) - 1) << pos;
    return (uint32_t)ones;
}
static inline uint32_t dp4(uint32_t a, uint32_t b, int sa, int sb)
{
    int32_t r = 0;
    for (int i = 0; i < 32; i += 8) {
        int32_t x = sa ? (int8_t)(a >> i) : (uint8_t)(a >> i);
        int32_t y = sb ? (int8_t)(b >> i) : (uint8_t)(b >> i);
        r += x * y;
    }
    return (uint32_t)r;
}
/* Halves of a times the two bytes of b from bit `from` on. */
static inline uint32_t dp2(uint32_t a, uint32_t b, int sa, int sb, int from)
{
    uint32_t r = 0;
    for (int i = 0; i < 2; i++) {
        int32_t x = sa ? (int16_t)(a >> 16 * i) : (uint16_t)(a >> 16 * i);
        int32_t y = sb ? (int8_t)(b >> (from + 8 * i)) : (uint8_t)(b >> (from + 8 * i));
        r += (uint32_t)(x * y);
    }
    return r;
}
static inline uint32_t prmt(uint32_t a, uint32_t b, uint32_t c)
{
    uint64_t ab = ((uint64_t)b << 32) | a;
    uint32_t r = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t sel = c >> (4 * i) & 15, byte = (uint32_t)(ab >> (8 * (sel & 7))) & 0xff;
        if (sel & 8)
            byte = byte & 0x80 ? 0xff : 0;
        r |= byte << (8 * i);
    }
    return r;
}
/* With SIMCUDA_APPROX=coarse, moves an approximate result by up to the error the
 * real unit may have, so that tolerances chosen too tight show. */
static inline float approx(float v, int ulps)
{
    if (__builtin_expect(!sim_opt.perturb, 1))
        return v;
    uint32_t u = f2u(v);
    if ((u & 0x7f800000) == 0x7f800000 || (u & 0x7f800000) == 0)
        return v;
    uint32_t h = u * 2654435761u;
    int32_t step = (int32_t)((h >> 8) % (uint32_t)(2 * ulps + 1)) - ulps;
    return u2f(u + (uint32_t)step);
}

/* Of whole numbers it is exact: NVIDIA's library of functions scales reals of 64 bits by it. */
static inline float power_of_2(float a)
{
    return a == rintf(a) ? exp2f(a) : approx(exp2f(a), 2);
}

/* Bit i of the table is the result where bits of a, b and c are i. */
static inline uint32_t lop3(uint32_t a, uint32_t b, uint32_t c, uint32_t table)
{
    uint32_t k[8];
    for (int i = 0; i < 8; i++)
        k[i] = 0u - (table >> i & 1);
    return (k[0] & ~a & ~b & ~c) | (k[1] & ~a & ~b & c) | (k[2] & ~a & b & ~c) | (k[3] & ~a & b & c) |
           (k[4] & a & ~b & ~c) | (k[5] & a & ~b & c) | (k[6] & a & b & ~c) | (k[7] & a & b & c);
}

/* ---- the tables, which end with NULL (alu.awk) ---- */
typedef struct alu_row {
    const char *key;
    handler fn;
} alu_row;
typedef struct compare_row {
    const char *key;
    comparison fn;
} compare_row;
extern const alu_row alu_table[];
extern const compare_row cmp_table[];
#endif
