/* Inputs large enough to be lent to a device that shares the host's memory: what a caller changes between two runs the
 * next one sees, what a run writes into a state the caller sees, and other memory may be given for each run. */
#include "backends/backend.h"
#include "graph/ir/graph.h"
#include "schedule/make.h"
#include "tests/backends/opencl/rig.h"
#include "tests/check.h"
#include "tessera.h"

#include <stdlib.h>
#include <string.h>

enum { RUNS = 3, SIDE = 160, COUNT_ALL = SIDE * SIDE }; /* 100 KiB of f32 */

static void fill(float *to, int by)
{
    for (int i = 0; i < COUNT_ALL; i++)
        to[i] = (float)(by * i % 17 - 8);
}

/* ---- states of a plan: total' = total + x ---- */
static void test_state(void)
{
    const int64_t square[] = {SIDE, SIDE};
    err e = {0};
    ts_array x, total = {0};
    float want[COUNT_ALL] = {0};
    ts_graph *g = ts_graph_make();
    const ts_tensor in = ts_input(g, "x", TS_F32, 2, square), sum = ts_input(g, "total", TS_F32, 2, square),
                    next = ts_call2(g, "add", sum, in), out = ts_call1(g, "sum", in);
    const ts_state state = {sum, next};
    ts_plan *p = ts_plan_of(g, 1, &out, 1, &state, &(ts_options){.target = "opencl"}, &e);
    CHECK(p && ts_array_make(&x, TS_F32, 2, square, &e) && ts_array_make(&total, TS_F32, 2, square, &e));
    CHECK(p && ts_plan_set(p, ts_plan_find(p, "total"), &total, &e));
    ts_array_free(&total);
    for (int run = 1; run <= RUNS && p; run++) {
        fill(x.data, run);
        for (int i = 0; i < COUNT_ALL; i++)
            want[i] += ((float *)x.data)[i];
        CHECK(ts_plan_set(p, ts_plan_find(p, "x"), &x, &e) && ts_plan_run(p, &e));
        total = (ts_array){0};
        CHECK(ts_plan_value(p, ts_plan_find(p, "total"), &total, &e) && !memcmp(total.data, want, sizeof want));
        ts_array_free(&total);
    }
    CHECK_TEXT(e.text, "");
    ts_array_free(&x), ts_plan_free(p), ts_graph_free(g);
}

/* ---- other memory each time ---- */
static void test_memory(void)
{
    const int64_t square[] = {SIDE, SIDE};
    err e = {0};
    arena mem = {0};
    text facts = {0};
    dtype stored;
    float *all = aligned_alloc(64, RUNS * COUNT_ALL * sizeof *all);
    ts_graph *g = ts_graph_make();
    const ts_tensor y = ts_call1(g, "negative", ts_input(g, "x", TS_F32, 2, square));
    const backend *by = backend_find("opencl", &e);
    const target *on = by->target(&mem, &(machine_options){0}, &e);
    plan *p = plan_make(g, 1, &y, &(plan_options){.on = on, .target = "opencl"}, &e);
    program *made = p ? by->build(p, &(build_options){0}, &facts, &e) : NULL;
    for (int run = 0; CHECK(made != NULL) && run < RUNS; run++) {
        float *x = all + run * COUNT_ALL;
        void *input[] = {x};
        fill(x, 3 + run);
        CHECK(by->run(made, input, &e));
        const float *at = by->at(made, p->root[0], &stored);
        for (int i = 0; at && i < COUNT_ALL; i++)
            CHECK(at[i] == -x[i]);
        CHECK(at != NULL);
    }
    CHECK_TEXT(e.text, "");
    if (made)
        by->drop(made);
    plan_free(p), text_free(&facts), arena_free(&mem), ts_graph_free(g), free(all);
}

int main(void)
{
    const int skip = rig_opencl();
    if (skip)
        return skip;
    test_state();
    test_memory();
    return check_done();
}
