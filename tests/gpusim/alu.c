/* alu.c - arithmetic, comparison and conversion handlers.
 * Compiled with -ffp-contract=off -frounding-math: every result is the IEEE one
 * under the rounding mode and flush-to-zero bits that op_wrapped() sets. */
#include "tests/gpusim/sim.h"
#include "tests/gpusim/fp.h"

#include <stdlib.h>
#include <time.h>

/* ---- lane types: T_xx is the C type computed with, LD/ST its register form ---- */
typedef uint16_t t_u16;
typedef int16_t t_s16;
typedef uint32_t t_u32;
typedef int32_t t_s32;
typedef uint64_t t_u64;
typedef int64_t t_s64;
typedef float t_f32;
typedef double t_f64;
typedef float t_f16;
typedef float t_bf16;
#define LD_u16(p) ((uint16_t)((const uint32_t *)(p))[l])
#define LD_s16(p) ((int16_t)((const uint32_t *)(p))[l])
#define LD_u32(p) (((const uint32_t *)(p))[l])
#define LD_s32(p) (((const int32_t *)(p))[l])
#define LD_u64(p) (((const uint64_t *)(p))[l])
#define LD_s64(p) (((const int64_t *)(p))[l])
#define LD_f32(p) (((const float *)(p))[l])
#define LD_f64(p) (((const double *)(p))[l])
#define LD_f16(p) h2f(LD_u16(p))
#define LD_bf16(p) bf2f(LD_u16(p))
#define ST_u16(p, v) (((uint32_t *)(p))[l] = (uint16_t)(v))
#define ST_s16(p, v) (((uint32_t *)(p))[l] = (uint16_t)(v))
#define ST_u32(p, v) (((uint32_t *)(p))[l] = (uint32_t)(v))
#define ST_s32(p, v) (((int32_t *)(p))[l] = (int32_t)(v))
#define ST_u64(p, v) (((uint64_t *)(p))[l] = (uint64_t)(v))
#define ST_s64(p, v) (((int64_t *)(p))[l] = (int64_t)(v))
#define ST_f32(p, v) (((float *)(p))[l] = (v))
#define ST_f64(p, v) (((double *)(p))[l] = (v))
#define ST_f16(p, v) (((uint32_t *)(p))[l] = f2h(v))
#define ST_bf16(p, v) (((uint32_t *)(p))[l] = f2bf(v))

/* ---- helpers used by alu.def ---- */
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
static inline uint64_t bfe(uint64_t a, uint32_t pos, uint32_t len, int bits, int is_signed)
{
    uint64_t r = 0;
    unsigned sign_at;
    pos &= 0xff;
    len &= 0xff;
    if (len == 0)
        return 0;
    sign_at = pos + len - 1 < (unsigned)bits - 1 ? pos + len - 1 : (unsigned)bits - 1;
    uint64_t sign = is_signed ? a >> sign_at & 1 : 0;
    for (unsigned i = 0; i < (unsigned)bits; i++) {
        uint64_t bit = i < len && pos + i < (unsigned)bits ? a >> (pos + i) & 1 : sign;
        r |= bit << i;
    }
    return r;
}
static inline uint64_t bfi(uint64_t a, uint64_t b, uint32_t pos, uint32_t len, int bits)
{
    pos &= 0xff;
    len &= 0xff;
    if (len == 0 || pos >= (unsigned)bits)
        return b;
    uint64_t ones = len >= 64 ? ~0ull : (1ull << len) - 1;
    return (b & ~(ones << pos)) | ((a & ones) << pos);
}
static inline uint32_t bmsk(uint32_t pos, uint32_t len)
{
    pos = pos > 32 ? 32 : pos;
    len = len > 32 ? 32 : len;
    uint64_t ones = ((1ull << len) - 1) << pos;
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

/* ---- handlers from alu.def ---- */
#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#define NAME CAT(op_line_, __LINE__)
#define HEAD static void NAME(Warp *w, const Insn *in, uint32_t m)
#define PTRS                    \
    uint8_t *pd = w->R + in->d; \
    const uint8_t *pa = w->R + in->a
#define PTRB const uint8_t *pb = w->R + in->b
#define PTRC const uint8_t *pc = w->R + in->c
#define PTRE const uint8_t *pe = w->R + in->e
#define U1(key, D, A, EX)                                    \
    HEAD                                                     \
    {                                                        \
        PTRS;                                                \
        EACH_LANE(m, t_##A a = LD_##A(pa); ST_##D(pd, EX);); \
    }
#define B2(key, D, A, B, EX)                                                       \
    HEAD                                                                           \
    {                                                                              \
        PTRS;                                                                      \
        PTRB;                                                                      \
        EACH_LANE(m, t_##A a = LD_##A(pa); t_##B b = LD_##B(pb); ST_##D(pd, EX);); \
    }
#define T3(key, D, A, B, C, EX)                                                                          \
    HEAD                                                                                                 \
    {                                                                                                    \
        PTRS;                                                                                            \
        PTRB;                                                                                            \
        PTRC;                                                                                            \
        EACH_LANE(m, t_##A a = LD_##A(pa); t_##B b = LD_##B(pb); t_##C c = LD_##C(pc); ST_##D(pd, EX);); \
    }
#define Q4(key, D, A, B, C, E, EX)                                                                           \
    HEAD                                                                                                     \
    {                                                                                                        \
        PTRS;                                                                                                \
        PTRB;                                                                                                \
        PTRC;                                                                                                \
        PTRE;                                                                                                \
        EACH_LANE(m, t_##A a = LD_##A(pa); t_##B b = LD_##B(pb); t_##C c = LD_##C(pc); t_##E e = LD_##E(pe); \
                  ST_##D(pd, EX););                                                                          \
    }
#define SEL(key, D)                                                      \
    HEAD                                                                 \
    {                                                                    \
        PTRS;                                                            \
        PTRB;                                                            \
        uint32_t p = pred_value(w, in->c);                               \
        EACH_LANE(m, ST_##D(pd, p >> l & 1 ? LD_##D(pa) : LD_##D(pb));); \
    }
#define LOP(key)                                                                                    \
    HEAD                                                                                            \
    {                                                                                               \
        PTRS;                                                                                       \
        PTRB;                                                                                       \
        PTRC;                                                                                       \
        unsigned t = (unsigned)in->imm;                                                             \
        uint32_t k[8];                                                                              \
        for (int i = 0; i < 8; i++)                                                                 \
            k[i] = t >> i & 1 ? ~0u : 0;                                                            \
        EACH_LANE(m, uint32_t a = LD_u32(pa); uint32_t b = LD_u32(pb); uint32_t c = LD_u32(pc);     \
                  ST_u32(pd, (k[0] & ~a & ~b & ~c) | (k[1] & ~a & ~b & c) | (k[2] & ~a & b & ~c) |  \
                                 (k[3] & ~a & b & c) | (k[4] & a & ~b & ~c) | (k[5] & a & ~b & c) | \
                                 (k[6] & a & b & ~c) | (k[7] & a & b & c)););                       \
    }
#define FMA16(key, UP, DOWN)                                                                      \
    HEAD                                                                                          \
    {                                                                                             \
        PTRS;                                                                                     \
        PTRB;                                                                                     \
        PTRC;                                                                                     \
        EACH_LANE(m, ST_u32(pd, DOWN(fma_odd(UP(LD_u16(pa)), UP(LD_u16(pb)), UP(LD_u16(pc)))));); \
    }
#define HALVES(RES)                           \
    uint32_t r_ = 0;                          \
    for (int s = 0; s < 32; s += 16)          \
        r_ |= (uint32_t)(uint16_t)(RES) << s; \
    ST_u32(pd, r_);
#define P1(key, UP, DOWN, EX)                           \
    HEAD                                                \
    {                                                   \
        PTRS;                                           \
        EACH_LANE(m, uint32_t x = LD_u32(pa); HALVES(({ \
                      float a = UP((uint16_t)(x >> s)); \
                      DOWN(EX);                         \
                  })));                                 \
    }
#define P2(key, UP, DOWN, EX)                                                       \
    HEAD                                                                            \
    {                                                                               \
        PTRS;                                                                       \
        PTRB;                                                                       \
        EACH_LANE(m, uint32_t x = LD_u32(pa); uint32_t y = LD_u32(pb); HALVES(({    \
                      float a = UP((uint16_t)(x >> s)), b = UP((uint16_t)(y >> s)); \
                      DOWN(EX);                                                     \
                  })));                                                             \
    }
#define P3(key, UP, DOWN)                                                                                         \
    HEAD                                                                                                          \
    {                                                                                                             \
        PTRS;                                                                                                     \
        PTRB;                                                                                                     \
        PTRC;                                                                                                     \
        EACH_LANE(m, uint32_t x = LD_u32(pa); uint32_t y = LD_u32(pb); uint32_t z = LD_u32(pc);                   \
                  HALVES(DOWN(fma_odd(UP((uint16_t)(x >> s)), UP((uint16_t)(y >> s)), UP((uint16_t)(z >> s)))))); \
    }
#include "tests/gpusim/alu.def"
#undef U1
#undef B2
#undef T3
#undef Q4
#undef SEL
#undef LOP
#undef FMA16
#undef P1
#undef P2
#undef P3

#define ENTRY(key) {key, NAME},
#define U1(key, ...) ENTRY(key)
#define B2(key, ...) ENTRY(key)
#define T3(key, ...) ENTRY(key)
#define Q4(key, ...) ENTRY(key)
#define SEL(key, ...) ENTRY(key)
#define LOP(key) ENTRY(key)
#define FMA16(key, ...) ENTRY(key)
#define P1(key, ...) ENTRY(key)
#define P2(key, ...) ENTRY(key)
#define P3(key, ...) ENTRY(key)
static const struct {
    const char *key;
    Handler fn;
} alu_table[] = {
#include "tests/gpusim/alu.def"
};

#undef NAME
#define NAME CAT(cmp_line_, __LINE__)
#define CMP(key, T, EX)                                  \
    static uint32_t NAME(const void *pa, const void *pb) \
    {                                                    \
        uint32_t r = 0;                                  \
        for (int l = 0; l < LANES; l++) {                \
            t_##T a = LD_##T(pa), b = LD_##T(pb);        \
            r |= (uint32_t)(EX) << l;                    \
        }                                                \
        return r;                                        \
    }
#include "tests/gpusim/cmp.def"
#undef CMP
#define CMP(key, ...) {key, NAME},
static const struct {
    const char *key;
    Compare fn;
} cmp_table[] = {
#include "tests/gpusim/cmp.def"
};

Handler alu_find(const char *key)
{
    for (size_t i = 0; i < sizeof alu_table / sizeof *alu_table; i++)
        if (strcmp(alu_table[i].key, key) == 0)
            return alu_table[i].fn;
    return NULL;
}

Compare cmp_find(const char *key)
{
    for (size_t i = 0; i < sizeof cmp_table / sizeof *cmp_table; i++)
        if (strcmp(cmp_table[i].key, key) == 0)
            return cmp_table[i].fn;
    return NULL;
}

/* ---- rounding modes, flush to zero, saturation and relu around another handler ---- */
static void clamp_result(Warp *w, const Insn *in, uint32_t m)
{
    uint8_t *pd = w->R + in->d;
    float hi = in->flags & F_SAT ? 1.0f : INFINITY;
#define CLAMP(v) ((v) != (v) ? (in->flags & F_SAT ? 0.0f : (v)) : (v) > 0 ? ((v) < hi ? (v) : hi) : 0.0f)
    switch (in->type) {
    case T_F32: EACH_LANE(m, float v = LD_f32(pd); ST_f32(pd, CLAMP(v));); break;
    case T_F64: EACH_LANE(m, double v = LD_f64(pd); ST_f64(pd, CLAMP(v));); break;
    case T_F16: EACH_LANE(m, float v = LD_f16(pd); ST_f16(pd, CLAMP(v));); break;
    case T_BF16: EACH_LANE(m, float v = LD_bf16(pd); ST_bf16(pd, CLAMP(v));); break;
    case T_F16X2:
        EACH_LANE(m, uint32_t x = LD_u32(pd); HALVES(({
                      float v = h2f((uint16_t)(x >> s));
                      f2h(CLAMP(v));
                  })));
        break;
    case T_BF16X2:
        EACH_LANE(m, uint32_t x = LD_u32(pd); HALVES(({
                      float v = bf2f((uint16_t)(x >> s));
                      f2bf(CLAMP(v));
                  })));
        break;
    default: break;
    }
}

void op_wrapped(Warp *w, const Insn *in, uint32_t m)
{
    static const unsigned rounding_bits[] = {0x0000, 0x6000, 0x2000, 0x4000}; /* rn rz rm rp */
    unsigned old = _mm_getcsr();
    unsigned csr = (old & ~0xe040u) | rounding_bits[in->rounding & 3] | (in->flags & F_FTZ ? 0x8040 : 0);
    if (csr != old)
        _mm_setcsr(csr);
    in->inner(w, in, m);
    if (csr != old)
        _mm_setcsr(old);
    if (in->flags & (F_SAT | F_RELU))
        clamp_result(w, in, m);
}

/* ---- predicates ---- */
static void set_pred(Warp *w, int operand, uint32_t m, uint32_t value)
{
    if (operand < 0)
        return;
    uint32_t *p = &w->pred[operand >> 1];
    *p = (*p & ~m) | (value & m);
}

static uint32_t combine(int mode, uint32_t r, uint32_t p)
{
    return mode == 1 ? r & p : mode == 2 ? r | p : mode == 3 ? r ^ p : r;
}

static uint32_t compare_lanes(Warp *w, const Insn *in)
{
    if (!(in->flags & F_FTZ))
        return in->cmp(w->R + in->a, w->R + in->b);
    unsigned old = _mm_getcsr();
    _mm_setcsr(old | 0x8040);
    uint32_t r = in->cmp(w->R + in->a, w->R + in->b);
    _mm_setcsr(old);
    return r;
}

void op_setp(Warp *w, const Insn *in, uint32_t m)
{
    uint32_t r = compare_lanes(w, in), p = pred_value(w, in->c);
    set_pred(w, in->d, m, combine(in->mode, r, p));
    set_pred(w, in->e, m, combine(in->mode, ~r, p));
}

/* set.CMP.dtype.stype: all ones or 1.0; packed forms compare each half. */
void op_set(Warp *w, const Insn *in, uint32_t m)
{
    uint8_t *pd = w->R + in->d;
    uint32_t one = in->type == T_F32                                             ? f2u(1.0f)
                   : in->type == T_F16                                           ? 0x3c00
                   : in->type == T_BF16                                          ? 0x3f80
                   : in->type == T_F16X2                                         ? 0x3c003c00
                   : in->type == T_BF16X2                                        ? 0x3f803f80
                   : in->type == T_U16 || in->type == T_S16 || in->type == T_B16 ? 0xffff
                                                                                 : ~0u;
    if (in->type2 == T_F16X2 || in->type2 == T_BF16X2) {
        uint32_t a[2][LANES], b[2][LANES], r[2];
        for (int l = 0; l < LANES; l++)
            for (int h = 0; h < 2; h++) {
                a[h][l] = LD_u32(w->R + in->a) >> (16 * h) & 0xffff;
                b[h][l] = LD_u32(w->R + in->b) >> (16 * h) & 0xffff;
            }
        for (int h = 0; h < 2; h++)
            r[h] = in->cmp(a[h], b[h]);
        EACH_LANE(m, ST_u32(pd, (r[0] >> l & 1 ? one & 0xffff : 0) | (r[1] >> l & 1 ? one & 0xffff0000u : 0)););
        return;
    }
    uint32_t r = combine(in->mode, compare_lanes(w, in), pred_value(w, in->c));
    EACH_LANE(m, ST_u32(pd, r >> l & 1 ? one : 0););
}

/* and, or, xor, not, mov of predicates */
void op_pred(Warp *w, const Insn *in, uint32_t m)
{
    uint32_t a = pred_value(w, in->a), b = pred_value(w, in->b);
    uint32_t r = in->mode == 0 ? a : in->mode == 4 ? ~a : combine(in->mode, a, b);
    set_pred(w, in->d, m, r);
}

void op_testp(Warp *w, const Insn *in, uint32_t m)
{
    uint32_t r = 0;
    for (int l = 0; l < LANES; l++) {
        double v = in->type == T_F64 ? LD_f64(w->R + in->a) : (double)LD_f32(w->R + in->a);
        bool sub = in->type == T_F64 ? v != 0 && fabs(v) < 0x1p-1022 : v != 0 && fabs(v) < 0x1p-126;
        bool hit = in->mode == 0   ? !isinf(v) && !isnan(v)
                   : in->mode == 1 ? isinf(v)
                   : in->mode == 2 ? !isnan(v)
                   : in->mode == 3 ? isnan(v)
                   : in->mode == 4 ? !isinf(v) && !isnan(v) && !sub && v != 0
                                   : sub;
        r |= (uint32_t)hit << l;
    }
    set_pred(w, in->d, m, r);
}

/* ---- add.cc and its relatives ---- */
void op_carry(Warp *w, const Insn *in, uint32_t m)
{
    bool wide = in->size == 8;
    uint8_t *pd = w->R + in->d;
    for (int l = 0; l < LANES; l++) {
        if (!(m >> l & 1))
            continue;
#define OPERAND(f) (wide ? LD_u64(w->R + in->f) : LD_u32(w->R + in->f))
        unsigned __int128 a = OPERAND(a), b = OPERAND(b), r, carry = in->flags & F_CC_IN ? w->cc >> l & 1 : 0;
        int bits = wide ? 64 : 32;
        if (in->mode) { /* mad.lo (1), mad.hi (2) */
            unsigned __int128 p = a * b;
            if (in->flags & F_SIGNED && in->mode == 2) { /* signed high half */
                __int128 sa = wide ? (__int128)(int64_t)a : (int32_t)a, sb = wide ? (__int128)(int64_t)b : (int32_t)b;
                p = (unsigned __int128)(sa * sb);
            }
            a = in->mode == 2 ? p >> bits : p;
            a &= wide ? (unsigned __int128)~0ull : 0xffffffffu;
            b = OPERAND(c);
        }
        r = in->flags & F_SUB ? a - b - carry : a + b + carry;
        if (wide)
            ST_u64(pd, (uint64_t)r);
        else
            ST_u32(pd, (uint32_t)r);
        if (in->flags & F_CC_OUT)
            w->cc = (w->cc & ~(1u << l)) | (uint32_t)(r >> bits & 1) << l;
    }
}

/* ---- mov between a vector of registers and one wider register ---- */
void op_pack(Warp *w, const Insn *in, uint32_t m)
{
    int bits = in->size * 8 / in->nlist, n = in->nlist;
    uint64_t ones = bits == 64 ? ~0ull : (1ull << bits) - 1;
    uint8_t *whole = w->R + in->a;
    for (int l = 0; l < LANES; l++) {
        if (!(m >> l & 1))
            continue;
        if (in->mode) { /* unpack */
            uint64_t v = in->size == 8 ? LD_u64(whole) : LD_u32(whole);
            for (int i = 0; i < n; i++)
                if (in->list[i] >= 0)
                    ST_u32(w->R + in->list[i], v >> (bits * i) & ones);
        } else {
            uint64_t v = 0;
            for (int i = 0; i < n; i++)
                v |= (LD_u32(w->R + in->list[i]) & ones) << (bits * i);
            if (in->size == 8)
                ST_u64(whole, v);
            else
                ST_u32(whole, v);
        }
    }
}

void op_clock(Warp *w, const Insn *in, uint32_t m)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    uint64_t ns = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec, v = in->mode ? ns : w->steps;
    uint8_t *pd = w->R + in->d;
    if (in->size == 8)
        EACH_LANE(m, ST_u64(pd, v););
    else
        EACH_LANE(m, ST_u32(pd, v););
}

/* ---- general conversion ---- */
static bool is_int(int t)
{
    return t >= T_B8 && t <= T_S64;
}
static int int_bits(int t)
{
    switch (t) {
    case T_B8:
    case T_U8:
    case T_S8: return 8;
    case T_B16:
    case T_U16:
    case T_S16: return 16;
    case T_B32:
    case T_U32:
    case T_S32: return 32;
    default: return 64;
    }
}
static bool is_signed(int t)
{
    return t == T_S8 || t == T_S16 || t == T_S32 || t == T_S64;
}

static void store_int(uint8_t *pd, int l, int type, int64_t v, int width)
{
    int sh = 64 - int_bits(type);
    v = is_signed(type) ? (int64_t)((uint64_t)v << sh) >> sh : (int64_t)((uint64_t)v << sh >> sh);
    if (width == 8)
        ST_s64(pd, v);
    else
        ST_u32(pd, int_bits(type) == 16 ? (uint16_t)v : (uint32_t)v);
}

void op_cvt(Warp *w, const Insn *in, uint32_t m)
{
    const uint8_t *pa = w->R + in->a;
    uint8_t *pd = w->R + in->d;
    int dt = in->type, st = in->type2, bits = is_int(dt) ? int_bits(dt) : 0;
    for (int l = 0; l < LANES; l++) {
        if (!(m >> l & 1))
            continue;
        if (is_int(st)) {
            uint64_t raw = in->count == 8 ? LD_u64(pa) : LD_u32(pa);
            int sh = 64 - int_bits(st);
            int64_t v = is_signed(st) ? (int64_t)(raw << sh) >> sh : (int64_t)(raw << sh >> sh);
            bool big = !is_signed(st) && int_bits(st) == 64; /* v is really unsigned */
            if (is_int(dt)) {
                if (in->flags & F_SAT) {
                    int64_t lo = is_signed(dt) ? INT64_MIN >> (64 - bits) : 0;
                    int64_t hi = is_signed(dt) ? INT64_MAX >> (64 - bits)
                                 : bits == 64  ? INT64_MAX
                                               : (int64_t)((1ull << bits) - 1);
                    if (big && v < 0)
                        v = hi;
                    else
                        v = v < lo ? lo : v > hi ? hi : v;
                }
                store_int(pd, l, dt, v, in->size);
            } else if (dt == T_F64)
                ST_f64(pd, big ? (double)(uint64_t)v : (double)v);
            else if (dt == T_F32)
                ST_f32(pd, big ? (float)(uint64_t)v : (float)v);
            else if (dt == T_F16)
                ST_u32(pd, d2h(big ? (double)(uint64_t)v : (double)v));
            else if (dt == T_BF16)
                ST_u32(pd, d2bf(big ? (double)(uint64_t)v : (double)v));
            continue;
        }
        double v = st == T_F64    ? LD_f64(pa)
                   : st == T_F16  ? (double)LD_f16(pa)
                   : st == T_BF16 ? (double)LD_bf16(pa)
                                  : (double)LD_f32(pa);
        if (in->mode == 1)
            v = nearbyint(v); /* under MXCSR: rni */
        else if (in->mode == 2)
            v = trunc(v);
        else if (in->mode == 3)
            v = floor(v);
        else if (in->mode == 4)
            v = ceil(v);
        if (is_int(dt)) {
            double lo = is_signed(dt) ? -ldexp(1, bits - 1) : 0, top = ldexp(1, is_signed(dt) ? bits - 1 : bits);
            int64_t r;
            if (v != v)
                r = 0;
            else if (v <= lo)
                r = is_signed(dt) ? INT64_MIN >> (64 - bits) : 0;
            else if (v >= top)
                r = is_signed(dt) ? INT64_MAX >> (64 - bits) : bits == 64 ? -1 : (int64_t)((1ull << bits) - 1);
            else
                r = !is_signed(dt) && v >= 0x1p63 ? (int64_t)(uint64_t)v : (int64_t)v;
            store_int(pd, l, dt, r, in->size);
        } else if (dt == T_F64)
            ST_f64(pd, v);
        else if (dt == T_F32)
            ST_f32(pd, (float)v);
        else if (dt == T_F16)
            ST_u32(pd, d2h(v));
        else if (dt == T_BF16)
            ST_u32(pd, in->rounding == 1 ? f2bf_rz(odd_float(v)) : d2bf(v));
        else if (dt == T_TF32)
            ST_f32(pd, f2tf32((float)v));
    }
}
