/* Values that a plan holds: lent arrays are read and written where they are, kernels that touch an input are known by
 * number, and a run that stops before a kernel has written what it said, and nothing later. */
/* ctest: fast */
#include "backends/driver.h"
#include "tests/check.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 96, BYTES = N * N * sizeof(float) };
static const int64_t square[] = {N, N};

typedef struct subject { /* a' = a + x x; b' = b + a' x; c' = c + x */
    ts_graph *g;
    ts_plan *p;
    float *a, *b, *c; /* lent */
} subject;

static ts_array array_of(float *v)
{
    return (ts_array){.dtype = TS_F32, .rank = 2, .dim = {N, N}, .data = v};
}

static float *filled(float v)
{
    float *all = aligned_alloc(64, BYTES);
    for (int i = 0; all && i < N * N; i++)
        all[i] = v;
    return all;
}

static subject make(const char *by)
{
    subject s = {.g = ts_graph_make(), .a = filled(-1), .b = filled(-1), .c = filled(3)};
    ts_tensor x = ts_input(s.g, "x", TS_F32, 2, square), a = ts_input(s.g, "a", TS_F32, 2, square);
    ts_tensor b = ts_input(s.g, "b", TS_F32, 2, square), c = ts_input(s.g, "c", TS_F32, 2, square);
    ts_tensor more = ts_call2(s.g, "add", a, ts_call2(s.g, "matmul", x, x)), sum = ts_call1(s.g, "sum", x);
    const ts_state all[] = {
        {a, more}, {b, ts_call2(s.g, "add", b, ts_call2(s.g, "matmul", more, x))}, {c, ts_call2(s.g, "add", c, x)}};
    err e = {0};
    s.p = ts_plan_of(s.g, 1, &sum, 3, all, &(ts_options){.target = by, .threads = 2, .cache_folder = "none"}, &e);
    if (!CHECK(s.p != NULL))
        printf("  %s\n", e.text);
    return s;
}

static void lend_all(const subject *s)
{
    const struct {
        const char *name;
        float *v;
    } lent[] = {{"a", s->a}, {"b", s->b}, {"c", s->c}};
    for (int i = 0; i < 3; i++) {
        const ts_array v = array_of(lent[i].v);
        CHECK(ts_plan_lend(s->p, ts_plan_find(s->p, lent[i].name), &v, &(err){0}));
    }
}

static void set_x(const subject *s, float v)
{
    float *x = filled(v);
    const ts_array of = array_of(x);
    CHECK(ts_plan_set(s->p, ts_plan_find(s->p, "x"), &of, &(err){0}));
    free(x); /* set copies */
}

static bool all_are(const float *v, float want)
{
    int i = 0;
    while (i < N * N && v[i] == want)
        i++;
    return i == N * N || (printf("  element %d is %g, not %g\n", i, v[i], want), false);
}

static void test_lent(const subject *s)
{
    set_x(s, 1);
    CHECK(ts_plan_run(s->p, &(err){0}));
    CHECK(all_are(s->a, N - 1) && all_are(s->b, (N - 1) * N - 1) && all_are(s->c, 4));
    for (int i = 0; i < N * N; i++)
        s->c[i] = 10;
    lend_all(s); /* the caller has changed one */
    CHECK(ts_plan_run(s->p, &(err){0}) && all_are(s->c, 11));
    ts_array seen = {0};
    CHECK(ts_plan_view(s->p, ts_plan_find(s->p, "c"), &seen, &(err){0}) && seen.data == s->c);
    float *x = filled(7);
    const ts_array v = array_of(x);
    CHECK(ts_plan_set(s->p, ts_plan_find(s->p, "c"), &v, &(err){0}) && all_are(s->c, 7)); /* it stays where it is */
    free(x);
}

static void test_refusals(const subject *s)
{
    err e = {0}, f = {0}, g = {0};
    const ts_array flat = {.dtype = TS_F32, .rank = 1, .dim = {N * N}, .data = s->a};
    CHECK(!ts_plan_lend(s->p, ts_plan_find(s->p, "a"), &flat, &e) && e.code == TS_BAD_INPUT);
    CHECK_TEXT(e.text, "input \"a\" is f32[9216], the model takes f32[96,96]");
    CHECK(!ts_plan_lend(s->p, 99, &flat, &f) && f.code == TS_USAGE);
    CHECK_TEXT(f.text, "input 99, but the plan has 4 of them, counted from 0");
    CHECK(!ts_plan_touched(s->p, -1, &(int){0}, &(int){0}, &g) && g.code == TS_USAGE);
}

typedef struct stopped {
    const subject *s;
    bool b; /* written when the first stop came */
    int n;
} stopped;

static void look(void *user, int i)
{
    stopped *w = user;
    CHECK(i == w->n++);
    CHECK(all_are(w->s->a, 4 * N - 1));
    if (i == 0)
        w->b = w->s->b[0] != -1;
}

/* b is made of a: the run stops between them, and b is still the old one there; a target that
 * writes states when all is computed does not stop. */
static void test_stops(const subject *s, bool halts)
{
    err e = {0};
    int first[2], written[2], x, never;
    for (int i = 0; i < 2; i++)
        CHECK(ts_plan_touched(s->p, ts_plan_find(s->p, i ? "b" : "a"), &first[i], &written[i], &e));
    CHECK(written[0] == (halts ? first[0] + 1 : INT_MAX) && first[0] < first[1]);
    CHECK(written[1] == (halts ? first[1] + 1 : INT_MAX));
    CHECK(ts_plan_touched(s->p, ts_plan_find(s->p, "x"), &x, &never, &e) && x == 0 && never == INT_MAX);
    for (int i = 0; i < N * N; i++)
        s->a[i] = s->b[i] = -1;
    lend_all(s), set_x(s, 2);
    stopped w = {.s = s};
    CHECK(ts_plan_run_stops(s->p, 2, written, look, &w, &e) && w.n == 2);
    CHECK(w.b == !halts && all_are(s->b, 2 * (4 * N - 1) * N - 1));
    CHECK(!ts_plan_run_stops(s->p, 2, NULL, look, &w, &e) && w.n == 2);
}

int main(void)
{
    static const char *const targets[] = {"c", "interp"};
    for (int i = 0; i < 2; i++) {
        subject s = make(targets[i]);
        lend_all(&s);
        test_lent(&s);
        test_refusals(&s);
        test_stops(&s, i == 0);
        ts_plan_free(s.p);
        ts_graph_free(s.g);
        free(s.a), free(s.b), free(s.c);
    }
    return check_done();
}
