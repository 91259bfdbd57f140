/* An index outside of its axis is found on the device, named as on every target, and forgotten with the run. */
#include "tessera.h"
#include "tests/backends/opencl/rig.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

typedef struct asked {
    ts_plan *p;
    int rows, places;
} asked;

static void run(const asked *q, int64_t place, const char *want)
{
    float rows[] = {3, 1, 2, 4};
    int64_t at[] = {1, place};
    ts_error e = {0};
    ts_array y = {0};
    CHECK(ts_plan_set(q->p, q->rows, &(ts_array){.dtype = TS_F32, .rank = 1, .dim = {4}, .data = rows}, &e) &&
          ts_plan_set(q->p, q->places, &(ts_array){.dtype = TS_I64, .rank = 1, .dim = {2}, .data = at}, &e));
    const bool ok = ts_plan_run(q->p, &e);
    CHECK_TEXT(e.text, want);
    CHECK(ok == !*want && (ok || e.code == TS_NUMERICS));
    if (ok && CHECK(ts_plan_get(q->p, 0, &y, &e)))
        CHECK(ts_array_at(&y, 0) == 1 && ts_array_at(&y, 1) == rows[place]);
    ts_array_free(&y);
}

int main(void)
{
    const ts_options o = {.target = "opencl", .cache_folder = "none"};
    ts_error e = {0};
    ts_graph *g = ts_graph_make();
    rig_hurry();
    const ts_tensor y = ts_call2(g, "gather axis=0", ts_input(g, "x", TS_F32, 1, (int64_t[]){4}),
                                 ts_input(g, "i", TS_I64, 1, (int64_t[]){2}));
    asked q = {.p = ts_plan_of(g, 1, &y, 0, NULL, &o, &e)};
    if (CHECK(q.p)) {
        q.rows = ts_plan_find(q.p, "x"), q.places = ts_plan_find(q.p, "i");
        run(&q, 3, "");
        run(&q, 4, "input \"i\" holds 4 at [1]; x has rows 0 to 3");
        run(&q, 0, "");
    }
    ts_plan_free(q.p), ts_graph_free(g);
    return check_done();
}
