/* ctest: large timeout=600
 * Gradients of convolutions in mixed precision on the stand-in for the driver, with all its checks: matrix units form
 * those of weights and of images, too, and results are the interpreter's as near as halves are. */
#include "tests/backends/cuda/rig.h"
#include "tests/check.h"

#include "tessera.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROOTS = 3 }; /* the loss, and gradients of x and w */

static int by_units(ts_graph *g, int n, const ts_tensor *t,
                    const ts_options *o) /* products, and those they do not form */
{
    ts_error e = {0};
    ts_plan *p = ts_plan_of(g, n, t, 0, NULL, o, &e);
    char *json = p ? ts_plan_json(p, &e) : NULL;
    const int units = check_count(json, "\"unit\":\"16 x 8 x 16 of bf16\"");
    CHECK(json && !strstr(json, "\"why\":"));
    ts_free(json), ts_plan_free(p);
    return units;
}

static double off(const ts_array *want, const ts_array *got) /* of the largest */
{
    double most = 0, apart = 0;
    for (int64_t i = 0; i < ts_array_count(want); i++) {
        most = fmax(most, fabs(ts_array_at(want, i)));
        apart = fmax(apart, fabs(ts_array_at(want, i) - ts_array_at(got, i)));
    }
    return apart / most;
}

static void try_convolution(const char *call)
{
    ts_graph *g = ts_graph_make();
    const ts_tensor x = ts_input(g, "x", TS_F32, 4, (int64_t[]){2, 20, 11, 10}),
                    w = ts_input(g, "w", TS_F32, 4, (int64_t[]){18, 20, 3, 3}), in[] = {x, w},
                    y = ts_call2(g, call, x, w);
    ts_tensor t[ROOTS] = {ts_call1(g, "sum", ts_call2(g, "multiply", y, y))};
    const ts_options interp = {.target = "interp"}, cuda = {.target = "cuda", .cache_folder = "none"};
    ts_given given[2] = {{.name = "x"}, {.name = "w"}};
    ts_array want[ROOTS], got[ROOTS];
    ts_error e = {0};
    CHECK(ts_chain_rule(g, 1, t, NULL, 2, in, t + 1) && ts_mixed_precision(g, ROOTS, t, TS_BF16, t));
    for (int i = 0; i < 2; i++)
        if (CHECK(ts_array_make(&given[i].value, TS_F32, 4, ts_shape(in[i]), &e)))
            ts_array_random(&given[i].value, (uint64_t)i + 1, 0);
    CHECK(by_units(g, ROOTS, t, &cuda) >= 3);
    if (CHECK(ts_eval(ROOTS, t, 2, given, &interp, want, &e) && ts_eval(ROOTS, t, 2, given, &cuda, got, &e)))
        for (int i = 0; i < ROOTS; i++) {
            if (!CHECK(off(&want[i], &got[i]) < 0x1p-6))
                printf("  %s: result %d is off by %.2g\n", call, i, off(&want[i], &got[i]));
            ts_array_free(&want[i]), ts_array_free(&got[i]);
        }
    else
        printf("  %s: %s\n", call, e.text);
    for (int i = 0; i < 2; i++)
        ts_array_free(&given[i].value);
    ts_graph_free(g);
}

int main(void)
{
    const int skipped = rig_cuda();
    if (skipped)
        return skipped;
    try_convolution("conv2d pads=[1,1,1,1]");
    try_convolution("conv2d pads=[1,1,1,1] strides=[2,2]");
    try_convolution("conv2d pads=[2,2,2,2] dilations=[2,2]");
    return check_done();
}
