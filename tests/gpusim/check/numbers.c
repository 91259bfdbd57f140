/* numbers.c - instructions by their results, mostly bit for bit. */
#include "tests/gpusim/check/run.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

static uint16_t to_bf16(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}
static float from_bf16(uint16_t h)
{
    uint32_t u = (uint32_t)h << 16;
    float f;
    memcpy(&f, &u, 4);
    return f;
}

static void test_maths(void)
{
    int n = 2000;
    float *x = calloc((size_t)n, 4), *y = calloc((size_t)n, 80);
    for (int i = 0; i < n; i++)
        x[i] = rnd() * 9;
    CUdeviceptr dx = upload(x, 4u * n), dy = upload(NULL, 80u * n);
    CHECK(go(fn(good, "maths"), 16, 1, 128, 1, 0, ARGS(&dx, &dy, &n)));
    CHECK(cuMemcpyDtoH(y, dy, 80u * n));
    double worst = 0;
    int at = 0, exact = 0;
    for (int i = 0; i < n; i++) {
        double v = x[i], a = fabs(v);
        double w[20] = {exp(v),
                        log((double)(fabsf(x[i]) + 0.1f)),
                        tanh(v),
                        erf(v),
                        sin(v),
                        cos((double)(x[i] * 100)),
                        sqrt(a),
                        1 / sqrt((double)(fabsf(x[i]) + 1)),
                        pow(a, 1.3f),
                        v / 3.7f,
                        fmaf(x[i], x[i], x[i]),
                        v + 1e-3f,
                        v * 1.1f,
                        v * v + 0.1f,
                        rint(v),
                        trunc(v),
                        (int)v,
                        rint(v),
                        sin(v * 1e6),
                        exp(v)};
        for (int k = 0; k < 20; k++) {
            double e = fabs(y[i * 20 + k] - w[k]) / (1e-2 + fabs(w[k]));
            if (!(e <= worst)) {
                worst = e;
                at = k;
            }
        }
        /* directed rounding: the f32 result must be the neighbour on the right side */
        exact += (fabs(y[i * 20 + 11]) <= fabs(w[11])) + (y[i * 20 + 12] >= w[12]) + (y[i * 20 + 13] <= w[13]) +
                 (y[i * 20 + 9] == x[i] / 3.7f);
    }
    char text[80];
    snprintf(text, sizeof text, "worst relative error %.2e (function %d)", worst, at);
    result("libdevice functions", worst < 2e-6, text);
    result("directed rounding and division", exact == 4 * n, "");
    cuMemFree(dx);
    cuMemFree(dy);
    free(x);
    free(y);
}
static uint16_t d_to_half(double x, int rz) /* independent of the stand-in: search by value */
{
    if (x != x)
        return 0x7fff;
    unsigned sign = signbit(x) ? 0x8000 : 0;
    x = fabs(x);
    if (rz ? x >= 65536 : x >= 65520)
        return sign | (isinf(x) || !rz ? 0x7c00 : 0x7bff);
    int lo = 0, hi = 0x7bff;
    while (lo < hi) {
        int mid = (lo + hi + 1) / 2;
        if (_cvtsh_ss((uint16_t)mid) <= x)
            lo = mid;
        else
            hi = mid - 1;
    }
    if (rz || lo == 0x7bff)
        return sign | (uint16_t)lo;
    double below = x - _cvtsh_ss((uint16_t)lo), above = _cvtsh_ss((uint16_t)(lo + 1)) - x;
    return sign | (uint16_t)(above < below || (above == below && (lo & 1)) ? lo + 1 : lo);
}
static void test_halves(void)
{
    int n = 20000, bad_at = -1;
    uint16_t *x = calloc((size_t)n, 2), *y = calloc((size_t)n, 2), *o = calloc((size_t)n, 24);
    for (int i = 0; i < n; i++) {
        rnd();
        x[i] = (uint16_t)(seed >> 16);
        rnd();
        y[i] = (uint16_t)(seed >> 16);
    }
    CUdeviceptr dx = upload(x, 2u * n), dy = upload(y, 2u * n), d = upload(NULL, 24u * n);
    CHECK(go(fn(good, "halves"), (n + 255) / 256, 1, 256, 1, 0, ARGS(&dx, &dy, &d, &n)));
    CHECK(cuMemcpyDtoH(o, d, 24u * n));
    for (int i = 0; i < n && bad_at < 0; i++) {
        float a = _cvtsh_ss(x[i]), b = _cvtsh_ss(y[i]), c = from_bf16(x[i]), e = from_bf16(y[i]);
        if (isnan(a) || isnan(b) || isnan(c) || isnan(e))
            continue;
        long double f = (long double)a * b + a;
        double fd = (double)f;
        uint16_t *q = o + 12 * i;
        uint16_t w[12] = {d_to_half((double)a + b, 0),
                          d_to_half((double)a * b, 0),
                          d_to_half(fd, 0),
                          d_to_half(a * 1.1f, 0),
                          d_to_half(a * 1.1f, 1),
                          0,
                          0,
                          0,
                          0,
                          0,
                          a < b,
                          d_to_half((double)a * 1.0009765625, 0)};
        for (int k = 0; k < 12; k++) {
            bool nan = (w[k] & 0x7fff) > 0x7c00;
            if (k >= 5 && k <= 9)
                continue;
            if (nan ? (q[k] & 0x7fff) <= 0x7c00 : q[k] != w[k]) {
                bad_at = i * 12 + k;
                break;
            }
        }
        float s = c + e, p = c * e;
        if (s == s && q[6] != to_bf16(s))
            bad_at = i * 12 + 6;
        if (p == p && q[7] != to_bf16(p))
            bad_at = i * 12 + 7;
    }
    char text[60] = "";
    if (bad_at >= 0)
        snprintf(text, sizeof text, "case %d, operation %d", bad_at / 12, bad_at % 12);
    result("f16 and bf16 arithmetic, bit for bit", bad_at < 0, text);
    cuMemFree(dx);
    cuMemFree(dy);
    cuMemFree(d);
    free(x);
    free(y);
    free(o);
}
static int collatz(int n)
{
    int s = 0;
    while (n != 1 && s < 1000) {
        n = n & 1 ? 3 * n + 1 : n / 2;
        s++;
    }
    return s;
}
static uint32_t brev(uint32_t v)
{
    uint32_t r = 0;
    for (int i = 0; i < 32; i++)
        r |= (v >> i & 1) << (31 - i);
    return r;
}
static void test_control(void)
{
    int n = 1000, o[1000];
    CUdeviceptr d = upload(NULL, sizeof o);
    CHECK(go(fn(good, "control"), 4, 1, 256, 1, 0, ARGS(&d, &n)));
    CHECK(cuMemcpyDtoH(o, d, sizeof o));
    bool ok = true;
    for (int i = 0; i < n; i++) {
        int loc[16] = {0}, r = 0;
        for (int k = 0; k < 16; k++)
            loc[(k * (i | 1)) & 15] = k * i;
        for (int k = 0; k < i % 23; k++) {
            if ((k ^ i) & 4)
                continue;
            r += loc[(k + i) & 15];
            if (r > 100000)
                break;
        }
        switch (i % 9) {
        case 0: r += 17; break;
        case 1: r ^= i * 3; break;
        case 2: r = r * 7 + 1; break;
        case 3: r -= loc[3]; break;
        case 4: r += collatz(i + 1); break;
        case 5: r = ~r; break;
        case 6: r = (int)((unsigned)r << 2); break;
        case 7:
            r = (int)((unsigned)r + (unsigned)__builtin_popcount((unsigned)i) +
                      (unsigned)(i ? __builtin_clz((unsigned)i) : 32) + brev((uint32_t)i) % 97);
            break;
        }
        long long q = (long long)r * 1234567891011ll / (i + 1) + (unsigned)r / 7u + r % 5;
        if (o[i] != (int)(q ^ (q >> 32))) {
            if (ok)
                printf("     control: thread %d\n", i);
            ok = false;
        }
    }
    result("divergence, switch, local arrays, calls, 64-bit division", ok, "");
    cuMemFree(d);
}
static void test_votes(void)
{
    unsigned o[256];
    CUdeviceptr d = upload(NULL, sizeof o);
    CHECK(go(fn(good, "votes"), 1, 1, 32, 1, 0, ARGS(&d)));
    CHECK(cuMemcpyDtoH(o, d, sizeof o));
    bool ok = true;
    for (unsigned l = 0; l < 32; l++) {
        unsigned *q = o + 8 * l, b = 0;
        for (unsigned k = 0; k < 32; k += 3)
            b |= 1u << k;
        ok &= q[0] == b && q[1] == 0xfu << (l / 4 * 4) && q[2] == 496 && q[3] == (l < 3 ? l : l - 3) &&
              q[4] == (l % 16 + 5 < 16 ? l + 5 : l) && q[5] == l / 8 * 8 + 7 && q[6] == 116;
        ok &= q[7] == (l < 8 ? 0xff + (l ^ 1) : 0);
    }
    result("votes, shuffles, match, redux, syncthreads_count", ok, "");
    cuMemFree(d);
}
static void test_ints(void)
{
    enum { N = 4000 };
    static uint32_t x[N], y[N], o[N * 20];
    int n = N, bad_at = -1;
    for (int i = 0; i < n; i++) {
        rnd();
        x[i] = seed ^ seed >> 13;
        rnd();
        y[i] = i % 7 ? seed ^ seed >> 11 : seed >> 20;
    }
    CUdeviceptr dx = upload(x, sizeof x), dy = upload(y, sizeof y), d = upload(NULL, sizeof o);
    CHECK(go(fn(good, "ints"), (n + 127) / 128, 1, 128, 1, 0, ARGS(&dx, &dy, &d, &n)));
    CHECK(cuMemcpyDtoH(o, d, sizeof o));
    for (int i = 0; i < n && bad_at < 0; i++) {
        uint32_t a = x[i], b = y[i], w[20] = {0}, pos = b & 31, length = b >> 8 & 31, p2 = a & 31, l2 = a >> 8 & 31,
                 u = (uint32_t)i;
        uint64_t ab = (uint64_t)b << 32 | a, W = (uint64_t)a << 32 | b;
        for (int k = 0; k < 4; k++) {
            uint32_t sel = (a ^ b) >> 4 * k & 15, byte = (uint32_t)(ab >> 8 * (sel & 7)) & 255;
            w[0] |= (sel & 8 ? (byte & 128 ? 255u : 0) : byte) << 8 * k;
        }
        w[1] = length ? a >> pos & ((1u << length) - 1) : 0;
        int64_t wide = (int32_t)a;
        w[2] = length ? (uint32_t)((int64_t)((uint64_t)(wide >> pos) << (64 - length)) >> (64 - length)) : 0;
        w[3] = (uint32_t)(((uint64_t)b & ~((((uint64_t)1 << l2) - 1) << p2)) |
                          (((uint64_t)a & (((uint64_t)1 << l2) - 1)) << p2));
        w[4] = (uint32_t)((ab << (b & 31)) >> 32);
        w[5] = (b & 63) >= 32 ? b : (uint32_t)(ab >> (b & 63));
        w[6] = a ^ b ^ u;
        w[7] = (a & b) | (~a & u);
        w[8] = a ? 31 - (uint32_t)__builtin_clz(a) : ~0u;
        w[9] = u;
        for (int k = 0; k < 32; k += 8)
            w[9] += (uint32_t)((int8_t)(a >> k) * (int8_t)(b >> k));
        w[9] += 3 * 7 + 5 * 9;
        for (int k = 0; k < 2; k++)
            w[9] += 3 * (uint32_t)((int16_t)(a >> 16 * k) * (int8_t)(b >> 8 * k)) +
                    5 * (uint32_t)((uint16_t)(a >> 16 * k) * (uint8_t)(b >> (16 + 8 * k)));
        w[10] = (uint32_t)(((int64_t)(int32_t)a * (int32_t)b) >> 32);
        w[11] = (uint32_t)(((uint64_t)a * b) >> 32);
        uint64_t v = W * 0x123456789abcdefull + (uint64_t)(((unsigned __int128)W * ~W) >> 64);
        w[12] = (uint32_t)(v >> 32);
        w[13] = (uint32_t)v;
        w[14] = (uint32_t)(W / (b | 1)) + (uint32_t)(W % (a | 3));
        w[15] = (uint32_t)((int64_t)W / (int64_t)((int32_t)b | 1));
        int64_t sd = (int64_t)(int32_t)a - (int32_t)b, ud = (int64_t)a - b;
        w[16] = (uint32_t)(sd < 0 ? -sd : sd) + 5 + (uint32_t)(ud < 0 ? -ud : ud) + 7;
        w[17] = u + 5 + (uint32_t)(((uint64_t)a + b) >> 32);
        w[18] = u - 5 - (a < b);
        w[19] = ((b & 127) > 31 ? 0 : a << (b & 31)) + (uint32_t)((int32_t)a >> (b & 31)) +
                (uint32_t)((int32_t)a < (int32_t)b ? a : b) + (a > b ? a : b);
        for (int k = 0; k < 20; k++)
            if (o[i * 20 + k] != w[k] && bad_at < 0)
                bad_at = i * 20 + k;
    }
    char text[80] = "";
    if (bad_at >= 0)
        snprintf(text, sizeof text, "case %d, operation %d: %x", bad_at / 20, bad_at % 20, o[bad_at]);
    result("integer instructions, bit for bit", bad_at < 0, text);
    cuMemFree(dx);
    cuMemFree(dy);
    cuMemFree(d);
}
static void test_packed(void)
{
    enum { N = 5000 };
    static uint32_t v[3][N];
    int n = N, wrong = 0;
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < n; i++) {
            rnd();
            v[k][i] = seed ^ seed << 7;
            if (i % 3)
                v[k][i] = (v[k][i] & 0x8fff8fff) | 0x30003000;
        }
    CUdeviceptr x = upload(v[0], sizeof v[0]), y = upload(v[1], sizeof v[1]), z = upload(v[2], sizeof v[2]),
                d = upload(&wrong, 4);
    CHECK(go(fn(good, "packed"), (n + 127) / 128, 1, 128, 1, 0, ARGS(&x, &y, &z, &d, &n)));
    CHECK(cuMemcpyDtoH(&wrong, d, 4));
    char text[40];
    snprintf(text, sizeof text, "%d differences", wrong);
    result("packed halves agree with scalar ones", wrong == 0, text);
    cuMemFree(x);
    cuMemFree(y);
    cuMemFree(z);
    cuMemFree(d);
}
static double clamp(double v, double lo, double hi)
{
    return v != v ? 0 : v < lo ? lo : v > hi ? hi : v;
}
static void test_casts(void)
{
    enum { N = 2000 };
    static double x[N], f[N * 6];
    static long long o[N * 12];
    int n = N, bad_at = -1;
    for (int i = 0; i < n; i++) {
        x[i] = ldexp(rnd(), i % 80 - 10);
        if (i % 50 == 0)
            x[i] = i % 100 ? INFINITY : NAN;
        if (i % 4 == 1)
            x[i] = floor(x[i]) + 0.5;
    }
    CUdeviceptr dx = upload(x, sizeof x), d = upload(NULL, sizeof o), e = upload(NULL, sizeof f);
    CHECK(go(fn(good, "casts"), (n + 127) / 128, 1, 128, 1, 0, ARGS(&dx, &d, &e, &n)));
    CHECK(cuMemcpyDtoH(o, d, sizeof o));
    CHECK(cuMemcpyDtoH(f, e, sizeof f));
    for (int i = 0; i < n && bad_at < 0; i++) {
        double v = x[i];
        float s = (float)v, up = s < v ? nextafterf(s, INFINITY) : s;
        long long q, w[12];
        memcpy(&q, &v, 8);
        double t = clamp(trunc(v), -0x1p63, 0x1p63), u = clamp(trunc(v), 0, 0x1p64);
        w[0] = (int)clamp(trunc(v), INT32_MIN, INT32_MAX);
        w[1] = (unsigned)clamp(trunc(v), 0, UINT32_MAX);
        w[2] = t >= 0x1p63 ? INT64_MAX : (long long)t;
        w[3] = u >= 0x1p64 ? -1 : (long long)(unsigned long long)u;
        w[4] = (int)clamp(floorf(s), INT32_MIN, INT32_MAX);
        w[5] = (unsigned)clamp(ceilf(s), 0, UINT32_MAX);
        double r = clamp(rintf(s), -0x1p63, 0x1p63);
        w[6] = r >= 0x1p63 ? INT64_MAX : (long long)r;
        w[7] = (signed char)q;
        w[8] = (short)(q >> 7);
        w[9] = (unsigned char)(q >> 9);
        w[10] = (unsigned short)q;
        w[11] = (int)clamp(rint(v), INT32_MIN, INT32_MAX);
        for (int k = 0; k < 12; k++)
            if (o[i * 12 + k] != w[k] && bad_at < 0)
                bad_at = i * 20 + k;
        double g[6] = {
            (float)q, (float)(unsigned long long)q, (double)(unsigned long long)q, (float)(unsigned)q, f[i * 6 + 4],
            up};
        for (int k = 0; k < 6; k++)
            if (f[i * 6 + k] != g[k] && !(k == 5 && v != v) && bad_at < 0)
                bad_at = i * 20 + 12 + k;
        if (fabs(f[i * 6 + 4]) > fabs((double)q) && q != 0)
            bad_at = i * 20 + 16;
    }
    char text[80] = "";
    if (bad_at >= 0)
        snprintf(text, sizeof text, "case %d (%g), operation %d", bad_at / 20, x[bad_at / 20], bad_at % 20);
    result("conversions saturate and round as documented", bad_at < 0, text);
    cuMemFree(dx);
    cuMemFree(d);
    cuMemFree(e);
}
void test_numbers(void)
{
    test_maths();
    test_halves();
    test_control();
    test_votes();
    test_ints();
    test_packed();
    test_casts();
}
