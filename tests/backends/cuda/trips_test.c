/* ctest: O3
 * Trips of a scan on the stand-in for CUDA's driver, as the host walks them: all of them are one graph, so that a run
 * takes a few calls of the driver, whatever their number; where trips say that they are the last, each is launched,
 * sixteen before the host asks, and those behind the last do nothing. As a loop inside of one kernel they take a few
 * calls in every case. Slices that come as boxes of tensors are those of the trip. */
#include "backends/driver.h"
#include "backends/cuda/settings.h"
#include "schedule/nest/box.h"
#include "tests/backends/cuda/rig.h"
#include "tests/backends/inside.h"
#include "tests/backends/row.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDE = 64 };

static unsigned long calls_of(ts_plan *p, ts_error *e) /* a run's */
{
    cuda_settings asked;
    void *driver = cuda_settings_read(&asked, e) ? dlopen(asked.driver, RTLD_NOW | RTLD_NOLOAD) : NULL;
    unsigned long (*calls)(void) = NULL;
    if (driver)
        *(void **)&calls = dlsym(driver, "simcuda_calls");
    const unsigned long before = calls ? calls() : 0;
    const bool ok = calls && ts_plan_run(p, e);
    const unsigned long all = ok ? calls() - before : 0;
    if (driver)
        dlclose(driver);
    return all;
}

/* A state that each trip halves and adds to; last: the host hears of each trip */
static unsigned long run_of(int64_t trips, bool last, bool inside)
{
    ts_error e = {0};
    ts_graph *g = ts_graph_make();
    ts_tensor y[1], first = ts_input(g, "first", TS_F32, 1, (int64_t[]){WIDE}), one = ts_scalar(g, TS_F32, 1);
    ts_scan *s = ts_scan_begin(g, trips);
    ts_tensor state = ts_scan_state(s, first),
              next = ts_call2(g, "add", ts_call2(g, "multiply", state, ts_scalar(g, TS_F32, 0.5)), one);
    ts_scan_step(s, state, next);
    if (last)
        ts_scan_until(s, ts_call2(g, "greater", ts_call1(g, "sum", next), ts_scalar(g, TS_F32, 1e9)));
    ts_scan_end(s, y);
    ts_plan *p = ts_plan_of(g, 1, y, 0, NULL, &(ts_options){.target = "cuda", .cache_folder = "none"}, &e);
    ts_array zero = {0}, got = {0};
    if (CHECK(p && inside_count(p->plan) == 1) && !inside)
        inside_walk(p->plan);
    bool ok = p && ts_array_make(&zero, TS_F32, 1, (int64_t[]){WIDE}, &e) && ts_plan_set(p, 0, &zero, &e) &&
              ts_plan_run(p, &e);
    const unsigned long calls = ok ? calls_of(p, &e) : 0;
    ok = ok && ts_plan_get(p, 0, &got, &e);
    double want = 0;
    for (int64_t i = 0; i < trips; i++)
        want = want / 2 + 1;
    if (!CHECK(ok && ((float *)got.data)[WIDE - 1] == (float)want))
        printf("  %s\n", e.text);
    ts_array_free(&zero), ts_array_free(&got), ts_plan_free(p), ts_graph_free(g);
    return calls;
}

/* A state that counts up to a limit, kept in every trip: of trips behind that nothing is seen. */
static void check_ends(bool inside)
{
    enum { TRIPS = 40 };
    static const float limits[] = {1, 2, 15, 16, 17, 21, 32, 39, 40, 100};
    ts_error e = {0};
    ts_graph *g = ts_graph_make();
    ts_tensor y[2], first = ts_input(g, "first", TS_F32, 1, (int64_t[]){WIDE}),
                    limit = ts_input(g, "limit", TS_F32, 0, NULL);
    ts_scan *s = ts_scan_begin(g, TRIPS);
    ts_tensor state = ts_scan_state(s, first), next = ts_call2(g, "add", state, ts_scalar(g, TS_F32, 1)),
              place = ts_call2(g, "add", next, ts_scalar(g, TS_F32, 1000));
    ts_scan_step(s, state, next), ts_scan_gather(s, place, false);
    ts_scan_until(s, ts_call2(g, "greater_equal", ts_call1(g, "max", next), limit));
    ts_scan_end(s, y);
    ts_plan *p = ts_plan_of(g, 2, y, 0, NULL, &(ts_options){.target = "cuda", .cache_folder = "none"}, &e);
    ts_array zero = {0}, at = {0}, got[2] = {{0}};
    if (p && !inside)
        inside_walk(p->plan);
    bool ok = p && ts_array_make(&zero, TS_F32, 1, (int64_t[]){WIDE}, &e) && ts_array_make(&at, TS_F32, 0, NULL, &e);
    for (int i = 0; ok && i < COUNT(limits); i++) {
        *(float *)at.data = limits[i];
        ok = ts_plan_set(p, 0, &zero, &e) && ts_plan_set(p, 1, &at, &e) && ts_plan_run(p, &e) &&
             ts_plan_get(p, 0, &got[0], &e) && ts_plan_get(p, 1, &got[1], &e);
        const int last = limits[i] < TRIPS ? (int)limits[i] : TRIPS;
        bool same = ok && ((float *)got[0].data)[WIDE - 1] == (float)last;
        for (int t = 0; same && t < TRIPS; t++)
            same = ((float *)got[1].data)[t * WIDE + 1] == (t < last ? (float)(1001 + t) : 0);
        if (!CHECK(same))
            printf("  up to %g: %s\n", limits[i], ok ? "other numbers" : e.text);
        ts_array_free(&got[0]), ts_array_free(&got[1]);
    }
    CHECK(ok);
    ts_array_free(&zero), ts_array_free(&at), ts_plan_free(p), ts_graph_free(g);
}

static const plan *trip_of(const plan *p)
{
    const plan *found = NULL;
    for (int k = 0; k < p->n_kernel; k++)
        found = p->kernel[k].scan ? p->kernel[k].scan->plan : found;
    return found;
}

static void check_boxes(void) /* y[t] = x[t] w, of which the device brings all slices */
{
    ts_error e = {0};
    scratch own = scratch_make();
    row_inputs in = {0};
    static const char schema[] = "{\"format\":\"tiling/1\",\"rules\":[{\"match\":{\"op\":[\"matmul\"]},\"loops\":\""
                                 "m/64@block n/64@block k/32+a*2+b*2 k/16@unroll m/16@warp m@mma n@mma k@mma\"}]}";
    const char *path = scratch_in(&own, "boxes.json");
    CHECK(file_save(path, schema, sizeof schema - 1, &e));
    ts_graph *g = ts_graph_make();
    ts_tensor x = row_build(g, "x bf16[3,64,96]; y relu x", 0, &in),
              w = row_build(g, "w bf16[96,64]; y relu w", 1, &in);
    ts_tensor y[1];
    ts_scan *s = ts_scan_begin(g, 3);
    ts_scan_gather(s, ts_call2(g, "matmul", ts_scan_slice(s, x, true), w), false);
    ts_scan_end(s, y);
    ts_array want = {0}, got = {0};
    const ts_options interp = {.target = "interp"}, o = {.target = "cuda", .schema = path, .cache_folder = "none"};
    if (!CHECK(ts_eval(1, y, in.n, in.given, &interp, &want, &e) && ts_eval(1, y, in.n, in.given, &o, &got, &e) &&
               row_differs(&want, &got, 0) < 0))
        printf("  %s\n", e.text);
    ts_plan *p = ts_plan_of(g, 1, y, 0, NULL, &o, &e);
    const plan *trip = p ? trip_of(p->plan) : NULL;
    box b;
    for (int i = 0; CHECK(trip && trip->kernel->stage->n_staging == 2) && i < 2; i++)
        CHECK(!box_find(trip, trip->kernel, trip->kernel->stage, &trip->kernel->stage->staging[i], &b));
    ts_plan_free(p), ts_array_free(&want), ts_array_free(&got), row_inputs_free(&in);
    ts_graph_free(g), scratch_free(&own);
}

int main(void)
{
    setenv("SIMCUDA_SM", "90", 1);
    const int skipped = rig_cuda();
    if (skipped)
        return skipped;
    const unsigned long few = run_of(3, false, false), many = run_of(300, false, false),
                        asked = run_of(30, true, false), one = run_of(30, true, true);
    printf("calls of the driver for a run: 3 trips %lu, 300 trips %lu, 30 that are asked for %lu, in a kernel %lu\n",
           few, many, asked, one);
    /* Two kernels and a byte of each trip; two waits, of two calls each */
    CHECK(few && few == many && many <= 8 && asked > 30 && asked <= 3 * 30 + 2 * 2 + 8 && one == few);
    check_ends(false), check_ends(true);
    check_boxes();
    return check_done();
}
