/* ctest: large Og unkept
 * sites_test N SEED: N random graphs on the processor and an OpenCL device. */
#include "backends/driver.h"
#include "tests/backends/row.h"
#include "tests/backends/placed.h"
#include "tests/backends/opencl/rig.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>

enum { DEFAULT_CASES = 24 };

/* The command names the device alone: what it cannot take is done on the processor, and brought there and back. fits:
 * all is done on the device. */
static void check_unfit(ts_graph *g, ts_tensor y, int n, const ts_given *given, bool fits)
{
    const ts_options c = {.target = "c", .cache_folder = "none"}, o = {.target = "opencl", .cache_folder = "none"};
    ts_array want = {0}, got = {0};
    err e = {0};
    ts_plan *p = y ? ts_plan_of(g, 1, &y, 0, NULL, &o, &e) : NULL;
    if (fits)
        CHECK(p && p->plan->n_site == 0);
    else
        CHECK(p && p->plan->n_site == 2 && p->plan->site[0].unfit == 1 && p->plan->n_kernel > 3);
    if (!CHECK(y && ts_eval(1, &y, n, given, &c, &want, &e) && ts_eval(1, &y, n, given, &o, &got, &e)))
        printf("  %s\n", e.text);
    else
        CHECK(row_differs(&want, &got, 0) < 0);
    ts_array_free(&want), ts_array_free(&got);
    ts_plan_free(p);
}

static void test_unfit(void)
{
    static const char row[] = "v0 f32[9,40]; v1 multiply v0 v0; v2 top_k axis=1 k=5 v1; v3 f32[5,3]; v4 matmul v2 v3";
    ts_graph *g = ts_graph_make();
    row_inputs in = {0};
    const ts_tensor y = row_build(g, row, 1, &in);
    check_unfit(g, y, in.n, in.given, false);
    row_inputs_free(&in), ts_graph_free(g);
}

/* A loop between what the device does: s = s / 2 + x of each row, all of them kept. It is the device's, unless a trip
 * does what that cannot: here, put the row in order. */
static void test_scan(bool fits)
{
    enum { TRIPS = 24, WIDTH = 5 };
    ts_graph *g = ts_graph_make();
    ts_given given = {.name = "x"};
    err e = {0};
    if (!CHECK(ts_array_make(&given.value, TS_F32, 2, (const int64_t[]){TRIPS, WIDTH}, &e)))
        return;
    for (int i = 0; i < TRIPS * WIDTH; i++)
        ((float *)given.value.data)[i] = (float)(i % 7 - 3);
    const ts_tensor x = ts_input(g, "x", TS_F32, 2, given.value.dim), twice = ts_call2(g, "add", x, x);
    const ts_tensor first = ts_call1(g, "sum axes=[0]", twice);
    ts_scan *s = ts_scan_begin(g, TRIPS);
    const ts_tensor state = ts_scan_state(s, first), row = ts_scan_slice(s, twice, false);
    const ts_tensor add = fits ? row : ts_call1(g, "sort axis=0", row);
    const ts_tensor next = ts_call2(g, "add", ts_call2(g, "multiply", state, ts_scalar(g, TS_F32, 0.5)), add);
    ts_tensor out[2];
    CHECK(ts_scan_step(s, state, next) && ts_scan_gather(s, next, false) && ts_scan_end(s, out));
    check_unfit(g, ts_graph_ok(g, &e) ? ts_call1(g, "relu", out[1]) : NULL, 1, &given, fits);
    ts_array_free(&given.value), ts_graph_free(g);
}

int main(int argc, char **argv)
{
    const int skip = rig_opencl();
    if (skip)
        return skip;
    test_unfit();
    test_scan(true), test_scan(false);
    placed_check(argc > 1 ? strtol(argv[1], NULL, 10) : DEFAULT_CASES, argc > 2 ? strtoull(argv[2], NULL, 10) : 1,
                 "opencl:0");
    return check_done();
}
