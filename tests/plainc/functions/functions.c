/* functions.c - scalar functions with choices, and what is made of them, on one thread: Tessera against loops as one
 * would write them in C, compiled at the flags of our kernels. Rows say the time of each and ours divided by plain C's;
 * the exit status is 1 where results are further apart than 1e-5. In f32, each shape value and gradient (vjp).
 *
 *   relu3  x < 0 ? 0 : x < 1 ? x^3 / 3 : x - 2/3         gelu   x (1 + erf(x / sqrt 2)) / 2
 *   sqrl   s = sum of x; t = s < 0 ? -x / 8 : x^2 / 2; mean of sin(t) t        vsqrl  that of each of many */
#include "graph/base/clock.h"

#include <tessera.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 16, MANY = 1000, CELL = SIDE * SIDE, ALL = MANY * CELL, SAMPLES = 12 };
static const double sample_seconds = 0.02;

/* ---- plain C; n: elements, or sets of CELL; dy: what arrives ---- */
typedef void plain(long n, const float *restrict x, const float *restrict dy, float *restrict out);

static void relu3(long n, const float *restrict x, const float *restrict dy, float *restrict y)
{
    (void)dy;
    for (long i = 0; i < n; i++)
        y[i] = x[i] < 0 ? 0 : x[i] < 1 ? x[i] * x[i] * x[i] / 3 : x[i] - 2 / 3.0f;
}

static void relu3_vjp(long n, const float *restrict x, const float *restrict dy, float *restrict dx)
{
    for (long i = 0; i < n; i++)
        dx[i] = dy[i] * (x[i] < 0 ? 0 : x[i] < 1 ? x[i] * x[i] : 1);
}

static void gelu(long n, const float *restrict x, const float *restrict dy, float *restrict y)
{
    (void)dy;
    for (long i = 0; i < n; i++)
        y[i] = 0.5f * x[i] * (1 + erff(x[i] * 0.70710678f));
}

static void gelu_vjp(long n, const float *restrict x, const float *restrict dy, float *restrict dx)
{
    for (long i = 0; i < n; i++)
        dx[i] = dy[i] * (0.5f * (1 + erff(x[i] * 0.70710678f)) + x[i] * 0.39894228f * expf(-0.5f * x[i] * x[i]));
}

static float sum_of(const float *x)
{
    float s = 0;
    for (int i = 0; i < CELL; i++)
        s += x[i];
    return s;
}

static void sqrl(long n, const float *restrict x, const float *restrict dy, float *restrict y)
{
    (void)dy;
    for (long k = 0; k < n; k++, x += CELL) {
        const float s = sum_of(x);
        float all = 0;
        for (int i = 0; i < CELL; i++) {
            const float t = s < 0 ? -x[i] / 8 : x[i] * x[i] / 2;
            all += sinf(t) * t;
        }
        y[k] = all / CELL;
    }
}

static void sqrl_vjp(long n, const float *restrict x, const float *restrict dy, float *restrict dx)
{
    for (long k = 0; k < n; k++, x += CELL, dx += CELL) {
        const float s = sum_of(x), each = dy[k] / CELL;
        for (int i = 0; i < CELL; i++) {
            const float t = s < 0 ? -x[i] / 8 : x[i] * x[i] / 2, by = s < 0 ? -0.125f : x[i];
            dx[i] = each * (cosf(t) * t + sinf(t)) * by;
        }
    }
}

/* ---- the same as graphs ---- */
static ts_tensor each(ts_graph *g, ts_tensor x, const char *name)
{
    if (!strcmp(name, "relu3"))
        ts_function(g, "relu3(x)", "x < 0 ? 0.0 : x < 1 ? x*x*x/3 : x - 2/3.0", NULL);
    return ts_call1(g, name, x);
}

static ts_tensor squares(ts_graph *g, ts_tensor x) /* of one set, [SIDE, SIDE] */
{
    ts_tensor s = ts_call1(g, "sum", x);
    ts_tensor t = ts_call2(g, "formula text=\"b < 0 ? -a/8 : a*a/2\"", x, s);
    return ts_call1(g, "mean", ts_call1(g, "formula text=sin(a)*a", t));
}

typedef struct row {
    const char *name;
    long sets; /* of CELL elements; 0: elements one by one */
    plain *value, *vjp;
} row;

typedef struct built {
    ts_graph *g;
    ts_tensor x, dy, y, dx;
} built;

static bool build(const row *r, built *b, ts_error *e)
{
    const int64_t one[] = {SIDE, SIDE}, many[] = {MANY, SIDE, SIDE};
    ts_graph *g = b->g = ts_graph_make();
    b->x = r->sets == 1 ? ts_input(g, "x", TS_F32, 2, one) : ts_input(g, "x", TS_F32, 3, many);
    if (!r->sets) {
        b->y = each(g, b->x, r->name);
    } else if (r->sets == 1) {
        b->y = squares(g, b->x);
    } else {
        ts_tensor x = ts_input(g, "one", TS_F32, 2, one), y = squares(g, x);
        ts_batch(g, 1, &y, 1, &x, &b->x, &b->y);
    }
    if (!ts_graph_ok(g, e))
        return false;
    b->dy = ts_input(g, "dy", TS_F32, ts_rank(b->y), ts_shape(b->y));
    ts_chain_rule(g, 1, &b->y, &b->dy, 1, &b->x, &b->dx);
    return ts_graph_ok(g, e);
}

/* ---- times ---- */
typedef struct duel {
    ts_plan *plan;
    plain *other;
    long n;
    const float *x, *dy;
    float *out;
} duel;

static double run(const duel *d, bool ours, long times, ts_error *e)
{
    const double begin = seconds_now();
    for (long i = 0; i < times; i++) {
        if (!ours)
            d->other(d->n, d->x, d->dy, d->out);
        else if (!ts_plan_run(d->plan, e))
            return NAN;
    }
    return (seconds_now() - begin) / (double)times;
}

/* The shortest of samples in turns */
static void fight(const duel *d, double best[2], ts_error *e)
{
    long times[2];
    for (int s = 0; s < 2; s++) {
        best[s] = run(d, s, 3, e);
        for (times[s] = 1; run(d, s, times[s], e) * (double)times[s] < sample_seconds && e->code == TS_OK;)
            times[s] *= 2;
    }
    for (int i = 0; i < SAMPLES && e->code == TS_OK; i++)
        for (int s = 0; s < 2; s++)
            best[s] = fmin(best[s], run(d, s, times[s], e));
}

static double apart(const float *a, const float *b, int64_t n)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++) {
        const double d = fabs((double)a[i] - (double)b[i]) / fmax(1, fabs((double)b[i]));
        most = d > most || isnan(d) ? d : most;
    }
    return most;
}

static bool give(ts_plan *p, const char *name, const ts_array *a, ts_error *e)
{
    const int at = ts_plan_find(p, name);
    return at < 0 || ts_plan_set(p, at, a, e);
}

static bool compare(const row *r, bool vjp, ts_error *e)
{
    const ts_options o = {.target = "c", .threads = 1};
    built b;
    ts_array x = {0}, dy = {0}, got = {0};
    double best[2] = {0}, far = NAN;
    bool ok = build(r, &b, e) && ts_array_make(&x, TS_F32, ts_rank(b.x), ts_shape(b.x), e) &&
              ts_array_make(&dy, TS_F32, ts_rank(b.y), ts_shape(b.y), e);
    if (ok)
        ts_array_random(&x, 1, 0), ts_array_random(&dy, 2, 0);
    for (int64_t i = 0; ok && i < ts_array_count(&x); i++) /* half of the sets sum up to less than 0 */
        ((float *)x.data)[i] = 2 * ((float *)x.data)[i] + (i / CELL % 2 ? 0.2f : -0.2f);
    float *out = calloc(ALL, sizeof *out);
    ts_plan *p = ok ? ts_plan_of(b.g, 1, vjp ? &b.dx : &b.y, 0, NULL, &o, e) : NULL;
    ok = p && out && ts_plan_build(p, e) && give(p, "x", &x, e) && give(p, "dy", &dy, e);
    if (ok) {
        const duel d = {p, vjp ? r->vjp : r->value, r->sets ? r->sets : ALL, x.data, dy.data, out};
        fight(&d, best, e);
        ok = e->code == TS_OK && ts_plan_get(p, 0, &got, e);
    }
    if (ok) {
        far = apart(got.data, out, ts_array_count(&got));
        printf("%-6s %-5s %10.3f us %10.3f us %8.2f %10.2g\n", r->name, vjp ? "vjp" : "value", 1e6 * best[1],
               1e6 * best[0], best[1] / best[0], far);
    }
    ts_array_free(&x), ts_array_free(&dy), ts_array_free(&got), ts_plan_free(p), ts_graph_free(b.g), free(out);
    return ok && far < 1e-5;
}

int main(void)
{
    static const row rows[] = {{"relu3", 0, relu3, relu3_vjp},
                               {"gelu", 0, gelu, gelu_vjp},
                               {"sqrl", 1, sqrl, sqrl_vjp},
                               {"vsqrl", MANY, sqrl, sqrl_vjp}};
    bool ok = true;
    printf("%-12s %13s %13s %8s %10s\n", "function", "ours", "plain C", "ours/C", "apart");
    for (int i = 0; i < 4; i++)
        for (int vjp = 0; vjp < 2; vjp++) {
            ts_error e = {0};
            if (!compare(&rows[i], vjp, &e))
                ok = false, fprintf(stderr, "%s: %s\n", rows[i].name, e.code ? e.text : "results are apart");
        }
    return ok ? 0 : 1;
}
