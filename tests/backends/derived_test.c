/* Weights that are computed from others when a plan is built: each has the value that its operations give, whatever
 * shapes there are side by side. */
#include "graph/base/base.h"
#include "tests/check.h"
#include "tessera.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Products with two weights of different shapes, each doubled and turned first. */
static ts_tensor two_products(ts_graph *g, ts_tensor x)
{
    static const int64_t shape[][2] = {{96, 64}, {80, 96}};
    for (int i = 0; i < COUNT(shape); i++) {
        char name[16];
        snprintf(name, sizeof name, "w%d", i);
        ts_tensor w = ts_weight(g, name, TS_F32, 2, shape[i], 0, 1, (uint64_t)i + 1);
        x = ts_call2(g, "matmul", x, ts_call1(g, "transpose", ts_call2(g, "add", w, ts_call1(g, "abs", w))));
    }
    return x;
}

/* Kernels of a run: where rows are to stay apart, too, what follows from weights alone is in none. */
static int kernels(ts_graph *g, ts_tensor y, const ts_options *o)
{
    ts_error e = {0};
    ts_plan *p = ts_plan_of(g, 1, &y, 0, NULL, o, &e);
    ENDED_BY(heap_free) char *json = p ? ts_plan_json(p, &e) : NULL;
    int n = 0;
    for (const char *at = json; at && (at = strstr(at, "\"operands\":")); at++)
        n++;
    if (!CHECK(json))
        printf("  %s\n", e.text);
    return ts_plan_free(p), n;
}

int main(void)
{
    ts_error e = {0};
    ts_graph *g = ts_graph_make();
    ts_array value = {0}, got[2] = {{0}};
    CHECK(ts_array_make(&value, TS_F32, 2, (int64_t[]){3, 64}, &e));
    ts_array_random(&value, 5, 0);
    ts_tensor y = two_products(g, ts_input(g, "x", TS_F32, 2, value.dim));
    static const char *const target[] = {"interp", "c"};
    for (int i = 0; i < COUNT(target); i++)
        if (!CHECK(ts_eval(1, &y, 1, &(ts_given){"x", value}, &(ts_options){.target = target[i]}, &got[i], &e)))
            printf("  %s: %s\n", target[i], e.text);
    for (int64_t i = 0; got[1].data && i < ts_array_count(&got[0]); i++) /* sums of 64 and 96 products of at most 2 */
        CHECK(fabs(ts_array_at(&got[0], i) - ts_array_at(&got[1], i)) <= 1.2e-7 * 10 * 64 * 2 * 96 * 2);
    CHECK(kernels(g, y, &(ts_options){.target = "c", .as_written = true}) == 2);
    CHECK(kernels(g, y, &(ts_options){.target = "c", .reproducible = true}) > 2);
    for (int i = 0; i < COUNT(got); i++)
        ts_array_free(&got[i]);
    ts_array_free(&value), ts_graph_free(g);
    return check_done();
}
