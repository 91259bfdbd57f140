/* Gradients of what is read at computed places: right, and in proportion to what is read, not to all pairs. */
#include "graph/ir/graph.h"
#include "tests/check.h"
#include "tessera.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double flops(ts_tensor t)
{
    const int count = g_reach(1, &t, NULL);
    const node **all = calloc((size_t)count, sizeof *all);
    double sum = 0;
    MUST(all);
    g_reach(1, &t, all);
    for (int i = 0; i < count; i++)
        sum += node_is_leaf(all[i]) ? 0 : node_flops(all[i]);
    return free(all), sum;
}

/* y[i] = a[b[i]]^2, of n places in m numbers. */
static void test_counted(int64_t n, int64_t m)
{
    ts_graph *g = ts_graph_make();
    ts_error e = {0};
    char call[128];
    ts_tensor a = ts_input(g, "a", TS_F64, 1, &m), b = ts_input(g, "b", TS_I64, 1, &n), da, t;
    snprintf(call, sizeof call, "element dims=[%lld] text=a[at(b[i0],%lld)]*a[at(b[i0],%lld)]", (long long)n,
             (long long)m, (long long)m);
    ts_tensor y = ts_call1(g, "sum", ts_call2(g, call, a, b));
    CHECK(ts_chain_rule(g, 1, &y, NULL, 1, &a, &da) && ts_pushforward(g, 1, &a, &a, 1, &y, &t));
    if (!CHECK(ts_graph_ok(g, &e)))
        printf("  %s\n", e.text);
    if (!CHECK(flops(da) <= 20.0 * (double)(n + m) && flops(t) <= 20.0 * (double)n))
        printf("  %g and %g operations for %lld places\n", flops(da), flops(t), (long long)n);
    double *x = calloc((size_t)m, sizeof *x), *want = calloc((size_t)m, sizeof *want);
    int64_t *place = calloc((size_t)n, sizeof *place);
    MUST(x && want && place);
    for (int64_t i = 0; i < m; i++)
        x[i] = random_unit(1, (uint64_t)i);
    for (int64_t i = 0; i < n; i++)
        place[i] = i * i % m, want[place[i]] += 2 * x[place[i]];
    const ts_given given[] = {{"a", {TS_F64, 1, {m}, x}}, {"b", {TS_I64, 1, {n}, place}}};
    for (int k = 0; k < 2; k++) {
        ts_array got = {0};
        CHECK(ts_eval(1, &da, 2, given, &(ts_options){.target = k ? "c" : "interp"}, &got, &e));
        CHECK_TEXT(e.text, "");
        for (int64_t i = 0; i < m && got.data; i++)
            CHECK(fabs(ts_array_at(&got, i) - want[i]) <= 1e-14 * (1 + fabs(want[i])));
        ts_array_free(&got);
    }
    free(x), free(want), free(place);
    ts_graph_free(g);
}

/* Rows of a table, as of cameras: whole rows are put, and what nothing is read for is summed first. */
static void test_rows(void)
{
    enum { N = 300, M = 7, K = 3 };
    ts_graph *g = ts_graph_make();
    ts_error e = {0};
    ts_tensor in[] = {ts_input(g, "a", TS_F64, 2, (const int64_t[]){M, K}),
                      ts_input(g, "b", TS_I64, 1, (const int64_t[]){N}),
                      ts_input(g, "c", TS_F64, 1, (const int64_t[]){K})},
              da;
    ts_tensor y = ts_call(g, "element dims=[300] folds=[3] text=a[at(b[i0],7),i1]*c[i1]", 3, in);
    ts_tensor s = ts_call1(g, "sum", y);
    CHECK(ts_chain_rule(g, 1, &s, NULL, 1, in, &da));
    if (!CHECK(ts_graph_ok(g, &e)))
        printf("  %s\n", e.text);
    CHECK(flops(da) <= 40.0 * N * K);
    double a[M * K] = {0}, c[K] = {1, 10, 100}, want[M] = {0};
    int64_t b[N];
    for (int i = 0; i < N; i++)
        b[i] = i * 5 % M, want[b[i]]++;
    const ts_given given[] = {{"b", {TS_I64, 1, {N}, b}}, {"c", {TS_F64, 1, {K}, c}}, {"a", {TS_F64, 2, {M, K}, a}}};
    ts_array got = {0};
    CHECK(ts_eval(1, &da, 2, given, &(ts_options){.target = "c"}, &got, &e));
    CHECK_TEXT(e.text, "");
    for (int i = 0; i < M * K && got.data; i++)
        CHECK(ts_array_at(&got, i) == want[i / K] * c[i % K]);
    ts_array_free(&got);
    ts_graph_free(g);
}

int main(void)
{
    test_counted(2000, 1000);
    test_counted(5, 8); /* few pairs: compared */
    test_rows();
    return check_done();
}
