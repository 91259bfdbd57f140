/* Trips of a loop of which a run says how many rows there are: a row counted from the end, a sum over all rows, and
 * what trips only add to. Numbers are whole, so results are exact. */
#include "tests/check.h"
#include "tests/import/wire.h"
#include "tests/scratch.h"

#include <stdio.h>

enum { BOUND = 9 };
static scratch folder;

/* r = x[-1 - i]; s becomes s + r + sum of x, which is gathered; r is joined to what there was. */
static ts_model *open_loop(void)
{
    static wire_model m, inner;
    text file = {0};
    err e = {0};
    wire_begin(&m), wire_begin(&inner);
    wire_input(&m, "x f32 seq");
    wire_output(&m, "all f32 *");
    wire_output(&m, "turned f32 *");
    wire_tensor(&m, "minus", 7, 0, NULL, (const int64_t[]){-1}, 8);
    wire_tensor(&m, "zero", 1, 0, NULL, (const float[]){0}, 4);
    wire_tensor(&m, "none", 1, 1, (const int64_t[]){0}, "", 0);
    wire_tensor(&m, "first", 7, 1, (const int64_t[]){1}, (const int64_t[]){0}, 8);
    wire_node(&m, "size", "Size x n");
    wire_input(&inner, "i i64");
    wire_input(&inner, "go bool");
    wire_input(&inner, "s f32");
    wire_input(&inner, "list f32 *");
    wire_output(&inner, "on bool");
    wire_output(&inner, "next f32");
    wire_output(&inner, "longer f32 *");
    wire_output(&inner, "kept f32");
    wire_node(&inner, "on", "Identity go on");
    wire_node(&inner, "back", "Sub minus,i place");
    wire_node(&inner, "row", "Gather x,place r");
    wire_node(&inner, "total", "ReduceSum x t keepdims=0");
    wire_node(&inner, "both", "Sum s,r,t next");
    wire_node(&inner, "keep", "Identity next kept");
    wire_node(&inner, "one", "Unsqueeze r,first u");
    wire_node(&inner, "join", "Concat list,u longer axis=0");
    wire_flow(&m, "loop", "Loop n,-,zero,none last,turned,all", 1, (const wire_graph[]){{"body", &inner}});
    wire_end(&m, &file);
    const char *path = scratch_in(&folder, "loop.onnx");
    CHECK(file_save(path, text_str(&file), file.length, NULL));
    text_free(&file);
    ts_model *opened = ts_model_open(path, &e);
    if (!CHECK(opened != NULL))
        fprintf(stderr, "%s\n", e.text);
    return opened;
}

static void test_run(ts_plan *p, int n)
{
    err e = {0};
    float x[BOUND];
    ts_array all = {0}, turned = {0}, in = {TS_F32, 1, {n}, x};
    for (int i = 0; i < n; i++)
        x[i] = (float)(i + 1);
    if (!CHECK(ts_plan_set(p, 0, &in, &e) && ts_plan_run(p, &e) && ts_plan_get(p, 0, &all, &e) &&
               ts_plan_get(p, 1, &turned, &e)))
        fprintf(stderr, "%s\n", e.text);
    CHECK(all.rank == 1 && all.dim[0] == n && turned.rank == 1 && turned.dim[0] == n);
    double want = 0;
    for (int i = 0; i < n && !err_is(&e); i++) {
        want += n - i + n * (n + 1) / 2;
        CHECK(ts_array_at(&all, i) == want && ts_array_at(&turned, i) == n - i);
    }
    ts_array_free(&all), ts_array_free(&turned);
}

int main(void)
{
    folder = scratch_make();
    err e = {0};
    const char *range = "seq=1..9";
    ts_model *m = open_loop();
    for (int threads = 1; threads <= 2; threads++) {
        ts_plan *p = ts_plan_make_varying(m, 1, &range, &(ts_options){.target = "c", .threads = threads}, &e);
        if (!CHECK(p != NULL))
            fprintf(stderr, "%s\n", e.text);
        for (int n = BOUND; p && n > 0; n -= 4)
            test_run(p, n);
        ts_plan_free(p);
    }
    ts_model_free(m);
    scratch_free(&folder);
    return check_done();
}
