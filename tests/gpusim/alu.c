/* alu.c - arithmetic, comparison and conversion handlers; those of an expression each are written by the build, from
 * alu.def and cmp.def.
 * Compiled with -ffp-contract=off -frounding-math: every result is the IEEE one
 * under the rounding mode and flush-to-zero bits that op_wrapped() sets. */
#include "tests/gpusim/lane.h"

#include <stdlib.h>
#include <time.h>

handler alu_find(const char *key)
{
    for (size_t i = 0; alu_table[i].key; i++)
        if (strcmp(alu_table[i].key, key) == 0)
            return alu_table[i].fn;
    return NULL;
}

comparison cmp_find(const char *key)
{
    for (size_t i = 0; cmp_table[i].key; i++)
        if (strcmp(cmp_table[i].key, key) == 0)
            return cmp_table[i].fn;
    return NULL;
}

/* ---- rounding modes, flush to zero, saturation and relu around another handler ---- */
/* Not below 0, and not above 1 where it saturates, which also makes 0 of what is no number */
static double clamped(const instruction *in, double v)
{
    const bool sat = in->flags & F_SAT;
    if (v != v)
        return sat ? 0 : v;
    return v <= 0 ? 0 : sat && v > 1 ? 1 : v;
}

static uint32_t clamped_halves(const instruction *in, uint32_t v)
{
    uint32_t both = 0;
    for (int s = 0; s < 32; s += 16) {
        const uint16_t half = (uint16_t)(v >> s);
        both |=
            (uint32_t)(in->type == T_F16X2 ? f2h((float)clamped(in, h2f(half))) : f2bf((float)clamped(in, bf2f(half))))
            << s;
    }
    return both;
}

static void clamp_result(warp *w, const instruction *in, uint32_t m)
{
    uint8_t *pd = w->R + in->d;
    EACH_LANE(l, m)
        switch (in->type) {
        case T_F32: put_f32(pd, l, (float)clamped(in, get_f32(pd, l))); break;
        case T_F64: put_f64(pd, l, clamped(in, get_f64(pd, l))); break;
        case T_F16: put_f16(pd, l, (float)clamped(in, get_f16(pd, l))); break;
        case T_BF16: put_bf16(pd, l, (float)clamped(in, get_bf16(pd, l))); break;
        case T_F16X2:
        case T_BF16X2: put_u32(pd, l, clamped_halves(in, get_u32(pd, l))); break;
        default: break;
        }
}

void op_wrapped(warp *w, const instruction *in, uint32_t m)
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
static void set_pred(warp *w, int operand, uint32_t m, uint32_t value)
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

static uint32_t compare_lanes(warp *w, const instruction *in)
{
    if (!(in->flags & F_FTZ))
        return in->cmp(w->R + in->a, w->R + in->b);
    unsigned old = _mm_getcsr();
    _mm_setcsr(old | 0x8040);
    uint32_t r = in->cmp(w->R + in->a, w->R + in->b);
    _mm_setcsr(old);
    return r;
}

void op_setp(warp *w, const instruction *in, uint32_t m)
{
    uint32_t r = compare_lanes(w, in), p = pred_value(w, in->c);
    set_pred(w, in->d, m, combine(in->mode, r, p));
    set_pred(w, in->e, m, combine(in->mode, ~r, p));
}

/* set.CMP.dtype.stype: all ones or 1.0; packed forms compare each half. */
void op_set(warp *w, const instruction *in, uint32_t m)
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
                a[h][l] = get_u32(w->R + in->a, l) >> (16 * h) & 0xffff;
                b[h][l] = get_u32(w->R + in->b, l) >> (16 * h) & 0xffff;
            }
        for (int h = 0; h < 2; h++)
            r[h] = in->cmp(a[h], b[h]);
        EACH_LANE(l, m)
            put_u32(pd, l, (r[0] >> l & 1 ? one & 0xffff : 0) | (r[1] >> l & 1 ? one & 0xffff0000u : 0));
        return;
    }
    uint32_t r = combine(in->mode, compare_lanes(w, in), pred_value(w, in->c));
    EACH_LANE(l, m)
        put_u32(pd, l, r >> l & 1 ? one : 0);
}

/* and, or, xor, not, mov of predicates */
void op_pred(warp *w, const instruction *in, uint32_t m)
{
    uint32_t a = pred_value(w, in->a), b = pred_value(w, in->b);
    uint32_t r = in->mode == 0 ? a : in->mode == 4 ? ~a : combine(in->mode, a, b);
    set_pred(w, in->d, m, r);
}

void op_testp(warp *w, const instruction *in, uint32_t m)
{
    uint32_t r = 0;
    for (int l = 0; l < LANES; l++) {
        double v = in->type == T_F64 ? get_f64(w->R + in->a, l) : (double)get_f32(w->R + in->a, l);
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
static unsigned __int128 carried(const warp *w, const instruction *in, int operand, int l)
{
    return in->size == 8 ? get_u64(w->R + operand, l) : get_u32(w->R + operand, l);
}

void op_carry(warp *w, const instruction *in, uint32_t m)
{
    bool wide = in->size == 8;
    uint8_t *pd = w->R + in->d;
    for (int l = 0; l < LANES; l++) {
        if (!(m >> l & 1))
            continue;
        unsigned __int128 a = carried(w, in, in->a, l), b = carried(w, in, in->b, l), r,
                          carry = in->flags & F_CC_IN ? w->cc >> l & 1 : 0;
        int bits = wide ? 64 : 32;
        if (in->mode) { /* mad.lo (1), mad.hi (2) */
            unsigned __int128 p = a * b;
            if (in->flags & F_SIGNED && in->mode == 2) { /* signed high half */
                __int128 sa = wide ? (__int128)(int64_t)a : (int32_t)a, sb = wide ? (__int128)(int64_t)b : (int32_t)b;
                p = (unsigned __int128)(sa * sb);
            }
            a = in->mode == 2 ? p >> bits : p;
            a &= wide ? (unsigned __int128)~0ull : 0xffffffffu;
            b = carried(w, in, in->c, l);
        }
        r = in->flags & F_SUB ? a - b - carry : a + b + carry;
        if (wide)
            put_u64(pd, l, (uint64_t)r);
        else
            put_u32(pd, l, (uint32_t)r);
        if (in->flags & F_CC_OUT)
            w->cc = (w->cc & ~(1u << l)) | (uint32_t)(r >> bits & 1) << l;
    }
}

/* ---- mov between a vector of registers and one wider register ---- */
void op_pack(warp *w, const instruction *in, uint32_t m)
{
    int bits = in->size * 8 / in->nlist, n = in->nlist;
    uint64_t ones = bits == 64 ? ~0ull : (1ull << bits) - 1;
    uint8_t *whole = w->R + in->a;
    for (int l = 0; l < LANES; l++) {
        if (!(m >> l & 1))
            continue;
        if (in->mode) { /* unpack */
            uint64_t v = in->size == 8 ? get_u64(whole, l) : get_u32(whole, l);
            for (int i = 0; i < n; i++)
                if (in->list[i] >= 0)
                    put_u32(w->R + in->list[i], l, v >> (bits * i) & ones);
        } else {
            uint64_t v = 0;
            for (int i = 0; i < n; i++)
                v |= (get_u32(w->R + in->list[i], l) & ones) << (bits * i);
            if (in->size == 8)
                put_u64(whole, l, v);
            else
                put_u32(whole, l, v);
        }
    }
}

void op_clock(warp *w, const instruction *in, uint32_t m)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    uint64_t ns = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec, v = in->mode ? ns : w->steps;
    uint8_t *pd = w->R + in->d;
    if (in->size == 8)
        EACH_LANE(l, m)
            put_u64(pd, l, v);
    else
        EACH_LANE(l, m)
            put_u32(pd, l, v);
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
        put_s64(pd, l, v);
    else
        put_u32(pd, l, int_bits(type) == 16 ? (uint16_t)v : (uint32_t)v);
}

void op_cvt(warp *w, const instruction *in, uint32_t m)
{
    const uint8_t *pa = w->R + in->a;
    uint8_t *pd = w->R + in->d;
    int dt = in->type, st = in->type2, bits = is_int(dt) ? int_bits(dt) : 0;
    for (int l = 0; l < LANES; l++) {
        if (!(m >> l & 1))
            continue;
        if (is_int(st)) {
            uint64_t raw = in->count == 8 ? get_u64(pa, l) : get_u32(pa, l);
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
                put_f64(pd, l, big ? (double)(uint64_t)v : (double)v);
            else if (dt == T_F32)
                put_f32(pd, l, big ? (float)(uint64_t)v : (float)v);
            else if (dt == T_F16)
                put_u32(pd, l, d2h(big ? (double)(uint64_t)v : (double)v));
            else if (dt == T_BF16)
                put_u32(pd, l, d2bf(big ? (double)(uint64_t)v : (double)v));
            continue;
        }
        double v = st == T_F64    ? get_f64(pa, l)
                   : st == T_F16  ? (double)get_f16(pa, l)
                   : st == T_BF16 ? (double)get_bf16(pa, l)
                                  : (double)get_f32(pa, l);
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
            put_f64(pd, l, v);
        else if (dt == T_F32)
            put_f32(pd, l, (float)v);
        else if (dt == T_F16)
            put_u32(pd, l, d2h(v));
        else if (dt == T_BF16)
            put_u32(pd, l, in->rounding == 1 ? f2bf_rz(odd_float(v)) : d2bf(v));
        else if (dt == T_TF32)
            put_f32(pd, l, f2tf32((float)v));
    }
}
