/* Kernels are timed by events of the device, and what they computed is there afterwards. As drivers build kernels by
 * themselves, those that call several tiles are right, too. */
#include "tests/backends/opencl/rig.h"
#include "tests/backends/row.h"
#include "tests/check.h"
#include "tessera.h"
#include "graph/base/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { SIDE = 64, KERNELS = 2 };

/* Whole numbers, so that the order of a sum does not show */
static bool fill(ts_array *a, int rows, int columns, ts_error *e)
{
    const int64_t dim[] = {rows, columns};
    const bool ok = ts_array_make(a, TS_F32, 2, dim, e);
    for (int64_t i = 0; ok && i < rows * columns; i++)
        ((float *)a->data)[i] = (float)(7 * i % 11 - 5);
    return ok;
}

/* No extent is a multiple of what a group does: full tiles and clipped ones are functions of their own. */
static void test_product(int m, int k, int n)
{
    ts_error e = {0};
    ts_array a, b, y[2] = {0};
    ts_graph *g = ts_graph_make();
    CHECK(fill(&a, m, k, &e) && fill(&b, k, n, &e));
    ts_tensor product = ts_call2(g, "matmul", ts_input(g, "a", TS_F32, 2, a.dim), ts_input(g, "b", TS_F32, 2, b.dim));
    const ts_given given[] = {{"a", a}, {"b", b}};
    static const char *const target[] = {"interp", "opencl"};
    for (int i = 0; i < 2; i++)
        CHECK(ts_eval(1, &product, 2, given, &(ts_options){.target = target[i]}, &y[i], &e));
    CHECK_TEXT(e.text, "");
    const int64_t wrong = y[0].data && y[1].data ? row_differs(&y[0], &y[1], 0) : 0;
    if (!CHECK(wrong < 0))
        printf("  m=%d k=%d n=%d: element %lld is wrong\n", m, k, n, (long long)wrong);
    ts_array_free(&y[0]), ts_array_free(&y[1]), ts_array_free(&a), ts_array_free(&b);
    ts_graph_free(g);
}

static void test_times(void)
{
    const int64_t square[] = {SIDE, SIDE};
    ts_error e = {0};
    ts_array x, y;
    double took[KERNELS] = {-1, -1};
    ts_graph *g = ts_graph_make();
    ts_tensor in = ts_input(g, "x", TS_F32, 2, square),
              sum = ts_call1(g, "sum axes=[1]", ts_call2(g, "matmul", in, in));
    ts_plan *p = ts_plan_of(g, 1, &sum, 0, NULL, &(ts_options){.target = "opencl"}, &e);
    CHECK(ts_array_make(&x, TS_F32, 2, square, &e));
    for (int i = 0; i < SIDE * SIDE; i++)
        ((float *)x.data)[i] = 1;
    if (CHECK(p && ts_plan_set(p, 0, &x, &e) && ts_plan_run(p, &e))) {
        const double start = seconds_now();
        CHECK(ts_plan_profile(p, 1, took, KERNELS, &e));
        const double all = seconds_now() - start;
        CHECK(took[0] > 0 && took[1] > 0 && took[0] + took[1] < all);
        CHECK(ts_plan_get(p, 0, &y, &e) && ((float *)y.data)[SIDE - 1] == SIDE * SIDE);
        ts_array_free(&y);
    }
    CHECK_TEXT(e.text, "");
    ts_array_free(&x), ts_plan_free(p), ts_graph_free(g);
}

int main(void)
{
    const int skip = rig_opencl();
    if (skip)
        return skip;
    test_times();
    test_product(17, 65, 1);
    test_product(37, 72, 70);
    test_product(129, 37, 72);
    test_product(300, 3000, 70); /* sums in several blocks, of panels that are copied */
    return check_done();
}
