/* ctest: large
 * places_test N SEED: N random graphs on the processor and an OpenCL device. */
#include "backends/driver.h"
#include "tests/backends/row.h"
#include "tests/backends/placed.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>

enum { DEFAULT_CASES = 24 };

/* The command names the device alone: what it cannot take is done on the processor, and brought there and back. */
static void test_unfit(void)
{
    static const char row[] = "v0 f32[9,40]; v1 multiply v0 v0; v2 top_k axis=1 k=5 v1; v3 f32[5,3]; v4 matmul v2 v3";
    const ts_options c = {.target = "c", .cache_dir = "none"}, o = {.target = "opencl", .cache_dir = "none"};
    ts_graph *g = ts_graph_make();
    row_inputs in = {0};
    const ts_tensor y = row_build(g, row, 1, &in);
    ts_array want = {0}, got = {0};
    err e = {0};
    ts_plan *p = y ? ts_plan_of(g, 1, &y, 0, NULL, &o, &e) : NULL;
    CHECK(p && p->plan->n_site == 2 && p->plan->site[0].unfit == 1 && p->plan->n_kernel > 3);
    if (!CHECK(y && ts_eval(1, &y, in.n, in.given, &c, &want, &e) && ts_eval(1, &y, in.n, in.given, &o, &got, &e)))
        printf("  %s\n", e.text);
    else
        CHECK(row_differs(&want, &got, 0) < 0);
    ts_array_free(&want), ts_array_free(&got);
    ts_plan_free(p), row_inputs_free(&in), ts_graph_free(g);
}

int main(int argc, char **argv)
{
    err e = {0};
    text why = {0};
    const backend *by = backend_find("opencl", &e);
    const bool here = CHECK(by) && by->usable(&why);
    text_free(&why);
    if (!here)
        return check_skip("no OpenCL device");
    test_unfit();
    placed_check(argc > 1 ? strtol(argv[1], NULL, 10) : DEFAULT_CASES, argc > 2 ? strtoull(argv[2], NULL, 10) : 1,
                 "opencl:0");
    return check_done();
}
