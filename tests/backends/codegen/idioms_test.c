/* idioms_test.c - 1 + erf(x), and GELU, as one function: as near as they say, exact at the ends, and only where that is
 * asked. What is rounded to integers by a scale is the same as by a division, next to every half, too. */
#include "graph/ir/graph.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 40000, ENDS = 4, N = STEPS + 1 + ENDS };

static float beside(float x, int steps) /* the number so many further */
{
    for (int i = 0; i < abs(steps); i++)
        x = nextafterf(x, steps < 0 ? -INFINITY : INFINITY);
    return x;
}

/* Halves times the scale, and what lies next to them, beyond the ends too */
static void rounded(double scale, int zero, int low, int high, const char *to)
{
    enum { HALVES = 300, BESIDE = 7 };
    const float s = (float)scale;
    char source[512];
    ts_tensor t;
    ts_error e = {0};
    ts_array y = {0};
    ts_given in = {.name = "x"};
    int n, wrong = 0;
    ts_graph *g = ts_graph_make();
    snprintf(source, sizeof source,
             "n0 = input \"x\" : f32[%d]\nn1 = const {%.9g} : f32[]\nn2 = const {%d} : %s[]\n"
             "n3 = quantize(n0, n1, n2) to=%s : %s[%d]\nreturn n3\n",
             HALVES * BESIDE, (double)s, zero, to, to, to, HALVES * BESIDE);
    bool ok = ts_array_make(&in.value, TS_F32, 1, (int64_t[]){HALVES * BESIDE}, &e) &&
              ts_parse(g, source, 1, &t, &n, &e);
    float *x = in.value.data;
    for (int i = 0; ok && i < HALVES * BESIDE; i++)
        x[i] = beside((float)((low - zero - 20 + i / BESIDE + 0.5) * s), i % BESIDE - BESIDE / 2);
    ok = ok && ts_eval(1, &t, 1, &in, &(ts_options){.target = "c"}, &y, &e);
    if (!CHECK(ok))
        printf("%s\n%s\n", source, e.text);
    for (int i = 0; ok && i < HALVES * BESIDE; i++) {
        const double want = fmin(fmax(rintf(x[i] / s) + (float)zero, low), high), got = ts_array_at(&y, i);
        if (got != want && !wrong++)
            printf("%.9g by %.9g, zero %d: got %g, wanted %g\n", (double)x[i], (double)s, zero, got, want);
    }
    CHECK(!wrong);
    ts_array_free(&y), ts_array_free(&in.value);
    ts_graph_free(g);
}

static bool values(const char *formula, ts_array *y, ts_error *e)
{
    char source[256];
    ts_tensor t;
    int n;
    ts_given in = {.name = "x"};
    ts_graph *g = ts_graph_make();
    snprintf(source, sizeof source, "n0 = input \"x\" : f32[%d]\nn1 = formula(n0) text=%s : f32[%d]\nreturn n1\n", N,
             formula, N);
    bool ok = ts_array_make(&in.value, TS_F32, 1, (int64_t[]){N}, e) && ts_parse(g, source, 1, &t, &n, e);
    float *x = in.value.data;
    for (int i = 0; ok && i <= STEPS; i++)
        x[i] = (float)(16.0 * i / STEPS - 8);
    const uint32_t ends[ENDS] = {0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345}; /* infinities, not-a-numbers */
    if (ok)
        memcpy(x + STEPS + 1, ends, sizeof ends);
    ok = ok && ts_eval(1, &t, 1, &in, &(ts_options){.target = "c"}, y, e);
    ts_array_free(&in.value);
    ts_graph_free(g);
    return ok;
}

/* What is off, at most: of 1 + erf, or of x where a is multiplied with that, however it is written. Both pass
 * not-a-numbers on. */
static void test(const char *formula, double sign, double scale, double plus, double most, bool gelu)
{
    ts_array y = {0};
    ts_error e = {0};
    double off = 0;
    if (!CHECK(values(formula, &y, &e))) {
        printf("%s\n%s\n", formula, e.text);
        return;
    }
    for (int i = 0; i <= STEPS; i++) {
        const double x = 16.0 * i / STEPS - 8, got = ts_array_at(&y, i),
                     want = gelu ? x / 2 * erfc(-scale * x) : plus + erf(sign * scale * x);
        off = fmax(off, fabs(got - want) / (gelu ? fmax(fabs(x), 1e-30) : 1));
    }
    if (!CHECK(off <= most))
        printf("%s: off by %.3g\n", formula, off);
    const double above = ts_array_at(&y, STEPS + 1), below = ts_array_at(&y, STEPS + 2);
    CHECK(gelu ? above == (double)INFINITY && isnan(below) /* -inf * 0, as by its parts */
               : above == plus + sign && below == plus - sign);
    CHECK(isnan(ts_array_at(&y, STEPS + 3)) && isnan(ts_array_at(&y, STEPS + 4)));
    ts_array_free(&y);
}

int main(void)
{
    static const double scales[] = {0.0370980315, 0.0423362553, 0.25, 1,           3,
                                    0.999999940,  1.99999988,   1e-6, 1.1754944e-7};
    for (int i = 0; i < (int)(sizeof scales / sizeof *scales); i++) {
        rounded(scales[i], 124, 0, 255, "u8");
        rounded(scales[i], 0, -128, 127, "i8");
    }
    test("1+erf(a)", 1, 1, 1, 1.7e-7 + 0x1p-24, false);
    test("erf(-a)+1", -1, 1, 1, 1.7e-7 + 0x1p-24, false);
    test("erf(a/1.4142135)+1", 1, 0.70710678, 1, 1.7e-7 + 0x1p-24, false);
    test("erf(a)+2", 1, 1, 2, 0x1p-22, false);
    test("erf(a)", 1, 1, 0, 3 * 0x1p-24, false);
    test("a*(1+erf(a/1.4142135))*0.5", 1, 0.70710678, 1, 1e-7 + 0x1p-24, true);
    test("0.5*a*(erf(a*0.70710678)+1)", 1, 0.70710678, 1, 1e-7 + 0x1p-24, true);
    test("a*(0.5*(1+erf(0.70710678*a)))", 1, 0.70710678, 1, 1e-7 + 0x1p-24, true);
    test("a*(0.5*(1+erf(0.7071*a)))", 1, 0.7071, 1, 1e-7 + 0x1p-24, true);
    test("(a*(1+erf(a*0.5)))*0.5", 1, 0.5, 1, 1e-7 + 0x1p-24, true);
    return check_done();
}
