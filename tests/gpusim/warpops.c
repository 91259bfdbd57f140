/* warpops.c - instructions that a whole warp performs together. */
#include "tests/gpusim/sim.h"
#include "tests/gpusim/fp.h"

#include <stdio.h>
#include <stdlib.h>

static uint32_t *row32(warp *w, int offset)
{
    return (uint32_t *)(w->R + offset);
}

static void set_pred(warp *w, int operand, uint32_t m, uint32_t value)
{
    if (operand < 0)
        return;
    uint32_t *p = &w->pred[operand >> 1];
    *p = (*p & ~m) | (value & m);
}

void op_nop(warp *w, const instruction *in, uint32_t m)
{
    (void)w;
    (void)in;
    (void)m;
}
void op_activemask(warp *w, const instruction *in, uint32_t m)
{
    uint32_t *d = row32(w, in->d);
    EACH_LANE(l, m)
        d[l] = m;
}
void op_warpsync(warp *w, const instruction *in, uint32_t m)
{
    (void)in;
    (void)m;
    w->sync++;
}
void op_trap(warp *w, const instruction *in, uint32_t m)
{
    sim_report(w, in, __builtin_ctz(m), CK_LAUNCH, true, "trap");
}

void op_elect(warp *w, const instruction *in, uint32_t m)
{
    int leader = __builtin_ctz(row32(w, in->b)[__builtin_ctz(m)]);
    if (in->d >= 0) {
        uint32_t *d = row32(w, in->d);
        EACH_LANE(l, m)
            d[l] = (uint32_t)leader;
    }
    set_pred(w, in->e, m, 1u << leader);
}

void op_shfl(warp *w, const instruction *in, uint32_t m)
{
    uint32_t src[LANES], ok = 0, *d = row32(w, in->d);
    const uint32_t *b = row32(w, in->list[0]), *c = row32(w, in->list[1]), *member = row32(w, in->b);
    memcpy(src, w->R + in->a, sizeof src);
    for (uint32_t r = m; r; r &= r - 1) {
        int l = __builtin_ctz(r), bval = b[l] & 31, cval = c[l] & 31, seg = c[l] >> 8 & 31;
        int max_lane = (l & seg) | (cval & ~seg), min_lane = l & seg, j;
        bool in_range;
        switch (in->mode) {
        case 0:
            j = l - bval;
            in_range = j >= max_lane;
            break;
        case 1:
            j = l + bval;
            in_range = j <= max_lane;
            break;
        case 2:
            j = l ^ bval;
            in_range = j <= max_lane;
            break;
        default:
            j = min_lane | (bval & ~seg);
            in_range = j <= max_lane;
            break;
        }
        if (!in_range)
            j = l;
        else if (!(member[l] >> j & 1) || !(m >> j & 1))
            sim_report(w, in, l, CK_LAUNCH, false, "shuffle from lane %d, which does not take part", j);
        ok |= (uint32_t)in_range << l;
        d[l] = src[j];
    }
    set_pred(w, in->e, m, ok);
}

void op_vote(warp *w, const instruction *in, uint32_t m)
{
    uint32_t member = row32(w, in->b)[__builtin_ctz(m)], p = pred_value(w, in->e) & member & m, all = member & m;
    if (in->mode == 0) {
        uint32_t *d = row32(w, in->d);
        EACH_LANE(l, m)
            d[l] = p;
        return;
    }
    bool r = in->mode == 1 ? p == all : in->mode == 2 ? p != 0 : p == 0 || p == all;
    set_pred(w, in->d, m, r ? ~0u : 0);
}

void op_match(warp *w, const instruction *in, uint32_t m)
{
    uint32_t *d = row32(w, in->d), result[LANES], same_all = 0;
    for (uint32_t r = m; r; r &= r - 1) {
        int l = __builtin_ctz(r);
        uint32_t hit = 0;
        for (uint32_t q = m; q; q &= q - 1) {
            int k = __builtin_ctz(q);
            bool eq = in->size == 8 ? ((uint64_t *)(w->R + in->a))[l] == ((uint64_t *)(w->R + in->a))[k]
                                    : row32(w, in->a)[l] == row32(w, in->a)[k];
            hit |= (uint32_t)eq << k;
        }
        result[l] = in->mode ? (hit == m ? m : 0) : hit;
        if (hit == m)
            same_all |= 1u << l;
    }
    EACH_LANE(l, m)
        d[l] = result[l];
    set_pred(w, in->e, m, same_all);
}

void op_redux(warp *w, const instruction *in, uint32_t m)
{
    const uint32_t *a = row32(w, in->a);
    uint32_t *d = row32(w, in->d), v = a[__builtin_ctz(m)];
    bool s = in->type == T_S32;
    for (uint32_t r = m & (m - 1); r; r &= r - 1) {
        uint32_t x = a[__builtin_ctz(r)];
        bool less = s ? (int32_t)x < (int32_t)v : x < v;
        switch (in->mode) {
        case 0: v += x; break;
        case 1: v = less ? x : v; break;
        case 2: v = less ? v : x; break;
        case 3: v &= x; break;
        case 4: v |= x; break;
        default: v ^= x; break;
        }
    }
    EACH_LANE(l, m)
        d[l] = v;
}

/* ---- matrices ---- */

/* Lane l holds, of row l/4 of each 8x8 matrix of 16-bit elements, elements 2*(l%4) and
 * 2*(l%4)+1; transposed, of column l/4.  Row addresses come from lanes 8*i..8*i+7. */
void op_ldmatrix(warp *w, const instruction *in, uint32_t m)
{
    uint64_t addr[LANES];
    uint8_t *ptr[LANES];
    uint32_t users = in->count == 4 ? ~0u : (1u << (8 * in->count)) - 1;
    if (in->flags & F_ADDR64)
        for (int l = 0; l < LANES; l++)
            addr[l] = ((uint64_t *)(w->R + in->a))[l] + (uint64_t)in->imm;
    else
        for (int l = 0; l < LANES; l++)
            addr[l] = (uint32_t)((in->a >= 0 ? row32(w, in->a)[l] : 0) + (uint32_t)in->imm);
    (void)m;
    access_pointers(w, in, users, addr, in->space, 16, in->mode ? A_WRITE : A_READ, ptr);
    for (int i = 0; i < in->count; i++) {
        uint32_t *d = row32(w, in->list[i]);
        for (int l = 0; l < LANES; l++) {
            int r = l / 4, c = 2 * (l % 4);
            uint8_t *lo = in->flags & F_TRANS ? ptr[8 * i + c] + 2 * r : ptr[8 * i + r] + 2 * c;
            uint8_t *hi = in->flags & F_TRANS ? ptr[8 * i + c + 1] + 2 * r : lo + 2;
            uint16_t x, y;
            if (in->mode) {
                x = (uint16_t)d[l];
                y = (uint16_t)(d[l] >> 16);
                memcpy(lo, &x, 2);
                memcpy(hi, &y, 2);
            } else {
                memcpy(&x, lo, 2);
                memcpy(&y, hi, 2);
                d[l] = x | (uint32_t)y << 16;
            }
        }
    }
}

static float element(uint32_t reg, int e, int type)
{
    switch (type) {
    case T_F16: return h2f((uint16_t)(reg >> (16 * e)));
    case T_BF16: return bf2f((uint16_t)(reg >> (16 * e)));
    case T_TF32: return u2f(reg & 0xffffe000);
    case T_S8: return (float)(int8_t)(reg >> (8 * e));
    default: return (float)(uint8_t)(reg >> (8 * e));
    }
}

/* D = A*B + C with A 16 x K, B K x 8.  Products are exact; sums are f32, in order of k
 * (8-bit integers: exact).  Register r, element e of lane l holds
 *   A: row l/4 + 8*(r&1), column (l%4)*n + e + (r/2)*4n   (n elements a register)
 *   B: row (l%4)*n + e + r*4n, column l/4
 *   C, D: row l/4 + 8*(r/2), column 2*(l%4) + r%2. */
void op_mma(warp *w, const instruction *in, uint32_t m)
{
    const int K = in->size, nd = in->d, na = in->a, nb = in->b;
    w->blk->counts.tensor++;
    w->blk->counts.products += (uint64_t)in->mode * 8 * (unsigned)K;
    const int32_t *D = in->list, *A = D + nd, *B = A + na, *C = B + nb;
    (void)m;
    if (in->type == T_F64) { /* m8n8k4 */
        double a[8][4], b[4][8], c[8][8];
        for (int l = 0; l < LANES; l++) {
            a[l / 4][l % 4] = ((double *)(w->R + A[0]))[l];
            b[l % 4][l / 4] = ((double *)(w->R + B[0]))[l];
            for (int r = 0; r < 2; r++)
                c[l / 4][2 * (l % 4) + r] = ((double *)(w->R + C[r]))[l];
        }
        for (int i = 0; i < 8; i++)
            for (int k = 0; k < 4; k++)
                for (int j = 0; j < 8; j++)
                    c[i][j] = __builtin_fma(a[i][k], b[k][j], c[i][j]);
        for (int l = 0; l < LANES; l++)
            for (int r = 0; r < 2; r++)
                ((double *)(w->R + D[r]))[l] = c[l / 4][2 * (l % 4) + r];
        return;
    }
    const int per = in->type == T_TF32 ? 1 : in->type == T_F16 || in->type == T_BF16 ? 2 : 4;
    const bool half_c = in->type2 == T_F16, int_c = in->type2 == T_S32;
    float a[16][32], b[32][8], c[16][8];
    if (nd != (half_c ? 2 : 4) || na * per * 2 != K || nb * per * 4 != K || K > 32)
        sim_report(w, in, 0, CK_UNSUPPORTED, true, "unsupported mma shape");
    for (int r = 0; r < na; r++) {
        const uint32_t *x = row32(w, A[r]);
        for (int l = 0; l < LANES; l++)
            for (int e = 0; e < per; e++)
                a[l / 4 + 8 * (r & 1)][(l % 4) * per + e + (r / 2) * 4 * per] = element(x[l], e, in->type);
    }
    for (int r = 0; r < nb; r++) {
        const uint32_t *x = row32(w, B[r]);
        for (int l = 0; l < LANES; l++)
            for (int e = 0; e < per; e++)
                b[(l % 4) * per + e + r * 4 * per][l / 4] = element(x[l], e, in->type);
    }
    if (int_c)
        memset(c, 0, sizeof c);
    else
        for (int r = 0; r < 4; r++)
            for (int l = 0; l < LANES; l++)
                c[l / 4 + 8 * (r / 2)][2 * (l % 4) + r % 2] = half_c ? h2f((uint16_t)(row32(w, C[r / 2])[l] >>
                                                                                      (16 * (r & 1))))
                                                                     : u2f(row32(w, C[r])[l]);
    for (int i = 0; i < 16; i++) {
        float acc[8];
        memcpy(acc, c[i], sizeof acc);
        for (int k = 0; k < K; k++)
            for (int j = 0; j < 8; j++)
                acc[j] = __builtin_fmaf(a[i][k], b[k][j], acc[j]);
        memcpy(c[i], acc, sizeof acc);
    }
    if (half_c) {
        for (int r = 0; r < 2; r++)
            for (int l = 0; l < LANES; l++)
                row32(w, D[r])[l] = f2h(c[l / 4 + 8 * r][2 * (l % 4)]) |
                                    (uint32_t)f2h(c[l / 4 + 8 * r][2 * (l % 4) + 1]) << 16;
        return;
    }
    for (int r = 0; r < 4; r++)
        for (int l = 0; l < LANES; l++) {
            float v = c[l / 4 + 8 * (r / 2)][2 * (l % 4) + r % 2];
            row32(w, D[r])[l] = int_c ? row32(w, C[r])[l] + (uint32_t)(int32_t)v : f2u(v);
        }
}

/* ---- printf and assert in kernels ---- */
static const char *device_string(uint64_t addr)
{
    const allocation *a = mem_find(addr);
    return a && a->live && addr < a->base + a->size ? (const char *)(mem_backing + (addr - mem_base)) : "(bad string)";
}

void op_print(warp *w, const instruction *in, uint32_t m)
{
    for (uint32_t r = m; r; r &= r - 1) {
        uint8_t *frame = w->local + (size_t)__builtin_ctz(r) * w->local_size, *args;
        uint64_t fmt, buf, v;
        size_t at = 0;
        memcpy(&fmt, frame + in->list[0], 8);
        memcpy(&buf, frame + in->list[1], 8);
        args = (buf & WINDOW_MASK) == LOCAL_WINDOW ? frame + (uint32_t)buf : NULL;
        for (const char *p = device_string(fmt); *p;) {
            if (*p != '%' || p[1] == '%') {
                putchar(*p);
                p += *p == '%' ? 2 : 1;
                continue;
            }
            char spec[40];
            size_t n = 0;
            bool wide = false;
            do {
                if (*p == 'l' || *p == 'z' || *p == 'j')
                    wide = true;
                else if (*p != 'h' && n < 30)
                    spec[n++] = *p;
                p++;
            } while (*p && !strchr("diouxXcsfFeEgGaAp", *p));
            char conv = *p ? *p++ : 'd';
            bool is_float = strchr("fFeEgGaA", conv) != NULL;
            wide = wide || is_float || conv == 's' || conv == 'p';
            at = (at + (wide ? 7 : 3)) & ~(size_t)(wide ? 7 : 3);
            v = 0;
            if (args)
                memcpy(&v, args + at, wide ? 8 : 4);
            at += wide ? 8 : 4;
            snprintf(spec + n, sizeof spec - n, "%s%c", wide && !is_float && conv != 's' && conv != 'p' ? "ll" : "",
                     conv);
            if (is_float)
                printf(spec, u2d(v));
            else if (conv == 's')
                printf(spec, device_string(v));
            else if (wide)
                printf(spec, v);
            else
                printf(spec, (uint32_t)v);
        }
    }
    fflush(stdout);
}

void op_assert(warp *w, const instruction *in, uint32_t m)
{
    int l = __builtin_ctz(m);
    uint64_t text;
    memcpy(&text, w->local + (size_t)l * w->local_size + in->list[0], 8);
    sim_report(w, in, l, CK_ASSERT, true, "assertion failed: %s", device_string(text));
}
