#include "tests/backends/codegen/real.h"
#include "backends/cpu/machine.h"
#include "graph/ir/graph.h"
#include "tests/check.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 1 << 16, MOST = 2 /* ULP */, MOST_ISA = 4 };

typedef struct row {
    const char *fn;
    double (*narrow)(double);
    long double (*wide)(long double);
    int low, high; /* exponents between which a double's function says most */
    int mirror;    /* f(-x) is so many times f(x); 0: something else */
} row;
static const row rows[] = {
    {"sin", sin, sinl, -4, 17, -1}, {"cos", cos, cosl, -4, 17, 1},   {"tan", tan, NULL, 0, 0, -1},
    {"exp", exp, expl, -24, 10, 0}, {"log", log, logl, -3, 3, 0},    {"tanh", tanh, tanhl, -24, 5, -1},
    {"erf", erf, erfl, -24, 3, -1}, {"expm1", expm1, NULL, 0, 0, 0}, {"log1p", log1p, NULL, 0, 0, 0},
};

/* A plan of one function of N numbers, and what was off most */
typedef struct bench {
    ts_graph *g;
    ts_plan *p;
    ts_array in[2], out;
    int operands;
    double most, at[2];
} bench;

static bool bench_make(bench *b, const char *formula, const char *of, int operands, const char *on)
{
    char source[256];
    ts_tensor t;
    ts_error e = {0};
    int n;
    *b = (bench){.g = ts_graph_make(), .operands = operands};
    const dtype d = !strcmp(of, "f32") ? TS_F32 : TS_F64;
    int at = snprintf(source, sizeof source, "n0 = input \"x\" : %s[%d]\n", of, N);
    if (operands == 2)
        at += snprintf(source + at, sizeof source - (size_t)at, "n1 = input \"y\" : %s[%d]\n", of, N);
    snprintf(source + at, sizeof source - (size_t)at, "n%d = formula(%s) text=%s : %s[%d]\nreturn n%d\n", operands,
             operands == 2 ? "n0, n1" : "n0", formula, of, N, operands);
    bool ok = ts_parse(b->g, source, 1, &t, &n, &e);
    for (int i = 0; ok && i < operands; i++)
        ok = ts_array_make(&b->in[i], d, 1, (int64_t[]){N}, &e);
    ok = ok && (b->p = ts_plan_of(b->g, 1, &t, 0, NULL, &(ts_options){.isa = on, .threads = 1}, &e)) &&
         ts_plan_build(b->p, &e);
    if (!CHECK(ok))
        printf("%s%s\n", source, e.text);
    return ok;
}

static bool bench_run(bench *b)
{
    ts_error e = {0};
    bool ok = true;
    ts_array_free(&b->out);
    for (int i = 0; ok && i < b->operands; i++)
        ok = ts_plan_set(b->p, ts_plan_find(b->p, i ? "y" : "x"), &b->in[i], &e);
    ok = ok && ts_plan_run(b->p, &e) && ts_plan_get(b->p, 0, &b->out, &e);
    if (!CHECK(ok))
        printf("%s\n", e.text);
    return ok;
}

static void bench_free(bench *b, const char *what, const char *of, const char *on)
{
    if (!CHECK(b->most <= MOST))
        printf("NOT NEAR ENOUGH: ");
    printf("%s %s, %s: off by %.3f ULP at most, at %a %a\n", what, of, on, b->most, b->at[0], b->at[1]);
    fflush(stdout);
    ts_plan_free(b->p), ts_graph_free(b->g);
    for (int i = 0; i < 2; i++)
        ts_array_free(&b->in[i]);
    ts_array_free(&b->out);
}

/* Of y against r, of numbers with so many digits and such a least exponent; programs give denormal numbers as 0. */
static double off(double y, long double r, int digits, int least)
{
    int power;
    const long double size = fabsl(r), first = ldexpl(1, least - 1), end = ldexpl(1, 2 - least + 1);
    if (isnan(r) || isnan(y))
        return isnan(r) && isnan(y) ? 0 : INFINITY;
    if (!signbit(y) != !signbit(r))
        return INFINITY;
    if (isinf(y) || size >= end) /* from the largest number on, half a unit decides */
        return isinf(y) && size >= end * (1 - ldexpl(1, -digits)) ? 0 : INFINITY;
    if (y == 0)
        return size < first ? 0 : INFINITY;
    (void)frexpl(r, &power);
    return (double)(fabsl(y - r) / ldexpl(1, (power < least ? least : power) - digits));
}

static void judge(bench *b, double error, double x, double y)
{
    if (!(error <= b->most))
        b->most = error, b->at[0] = x, b->at[1] = y;
}

static float taken(float x) /* programs take denormal numbers as 0 */
{
    return fabsf(x) < FLT_MIN ? copysignf(0, x) : x;
}

static float float_of(uint32_t u)
{
    float f;
    memcpy(&f, &u, 4);
    return f;
}

static double double_of(uint64_t u)
{
    double f;
    memcpy(&f, &u, 8);
    return f;
}

static const double apart[] = {
    0.0,
    -0.0,
    1,
    -1,
    INFINITY,
    -INFINITY,
    NAN,
    0.5,
    -0.5,
    2,
    -2,
    88.7228,
    -103.9,
    89,
    -87.3,
    710,
    709.78,
    -708.3,
    -745.2,
    -746,
    1e30,
    -1e30,
    1e-30,
    M_PI,
    M_PI_2,
    9.1,
    -9.1,
    0.55,
    0.95,
    3.925,
    5.93,
    3e7,
    -3e7,
    1e5,
    16777216,
    1e22,
    0x1p-126,
    0x1p-1022,
    33,
    3,
    -3,
    16777215.0,
    0x1p127,
    -0x1p127,
    1e300,
    0x1.921fb6p1,
    0x1.921fb54442d18p10,
    0x1.6ac5b262ca1ffp+849,
    0x1.fffffep127,
    0x1.fffffffffffffp1023,
};

/* In pairs of x and -x, on all instruction sets at once: what takes long is to know better. */
static void check_narrow(const row *q, const char *const *on, int n_on, const real_sample *s)
{
    static float x[N];
    static double r[N];
    char formula[32];
    bench b[MOST_ISA];
    bool ok = true;
    snprintf(formula, sizeof formula, "%s(a)", q->fn);
    for (int k = 0; k < n_on; k++)
        ok = bench_make(&b[k], formula, "f32", 1, on[k]) && ok;
    uint64_t u = s->first;
    for (bool begun = false; ok && u <= INT32_MAX; begun = true) {
        for (int i = 0; i < N / 2; i++) {
            if (!begun && i < COUNT(apart))
                x[i] = (float)apart[i];
            else
                x[i] = float_of((uint32_t)(u <= INT32_MAX ? u : 0)), u += s->stride;
            x[i + N / 2] = -x[i];
        }
        for (int k = 0; ok && k < n_on; k++) {
            memcpy(b[k].in[0].data, x, sizeof x);
            ok = bench_run(&b[k]);
        }
        for (int i = 0; ok && i < N; i++) {
            const int twin = i - N / 2;
            r[i] = twin >= 0 && q->mirror ? q->mirror * r[twin] : q->narrow((double)taken(x[i]));
            for (int k = 0; k < n_on; k++) {
                const double y = (double)((const float *)b[k].out.data)[i];
                if (!(fabs(y - r[i]) < 0x1p-26 * fabs(r[i])))
                    judge(&b[k], off(y, r[i], 24, -125), (double)x[i], 0);
            }
        }
    }
    for (int k = 0; k < n_on; k++)
        bench_free(&b[k], q->fn, "f32", on[k]);
}

static uint64_t draw(uint64_t *state) /* xorshift* */
{
    *state ^= *state >> 12, *state ^= *state << 25, *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

static void check_wide(const row *q, const char *on, const real_sample *s)
{
    char formula[32];
    uint64_t state = UINT64_C(88172645463325252) + s->first;
    bench b;
    snprintf(formula, sizeof formula, "%s(a)", q->fn);
    bool ok = bench_make(&b, formula, "f64", 1, on);
    for (int round = 0; ok && round < 2 * s->count; round++) {
        const int low = round % 2 ? q->low : -1022, high = round % 2 ? q->high : 1023;
        double *x = b.in[0].data;
        for (int i = 0; i < N; i++) {
            const uint64_t bits = draw(&state),
                           power = (uint64_t)(1023 + low) + draw(&state) % (uint64_t)(high - low + 1);
            x[i] = round == 0 && i < COUNT(apart) ? apart[i] : double_of((bits & 0x800fffffffffffff) | power << 52);
        }
        if (!(ok = bench_run(&b)))
            break;
        const double *y = b.out.data;
        for (int i = 0; i < N; i++)
            judge(&b, off(y[i], q->wide((long double)x[i]), 53, -1021), x[i], 0);
    }
    bench_free(&b, q->fn, "f64", on);
}

/* Pairs of those apart; numbers of any bits; exponents that keep the power in range, some whole. */
static void check_pow(const char *on, const real_sample *s)
{
    uint64_t state = UINT64_C(88172645463325252) + s->first;
    bench b;
    bool ok = bench_make(&b, "pow(a,b)", "f32", 2, on);
    for (int round = 0; ok && round < 4 * s->count; round++) {
        float *x = b.in[0].data, *y = b.in[1].data;
        for (int i = 0; i < N; i++) {
            const uint64_t u = draw(&state);
            const double share = (double)(draw(&state) >> 11) * 0x1p-53;
            x[i] = float_of((uint32_t)u), y[i] = float_of((uint32_t)(u >> 32));
            if (round == 0)
                x[i] = (float)apart[i % COUNT(apart)], y[i] = (float)apart[i / COUNT(apart) % COUNT(apart)];
            if (round % 4 > 1)
                y[i] = (float)((300 * share - 150) / log2(fabs((double)x[i])));
            if (round % 4 == 3)
                y[i] = rintf(y[i]);
        }
        if (!(ok = bench_run(&b)))
            break;
        const float *z = b.out.data;
        for (int i = 0; i < N; i++)
            judge(&b, off((double)z[i], pow((double)taken(x[i]), (double)taken(y[i])), 24, -125), (double)x[i],
                  (double)y[i]);
    }
    bench_free(&b, "pow", "f32", on);
}

void real_check(const real_sample *s)
{
    const char *on[MOST_ISA];
    int n = 0;
    for (const isa *i = isa_table; i->name && n < MOST_ISA; i++)
        if (isa_includes(isa_of_host(), i))
            on[n++] = i->name;
    for (int k = 0; k < COUNT(rows); k++)
        check_narrow(&rows[k], on, n, s);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < COUNT(rows); k++)
            if (rows[k].wide)
                check_wide(&rows[k], on[i], s);
        check_pow(on[i], s);
    }
}
