/* What the specification of ONNX leaves undefined (docs/operators.md) comes out alike: interpreted, compiled, with
 * operands known or not. */
#include "graph/ir/type.h"
#include "tests/backends/called.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const called rows[] = {
    {"trunc_divide", TS_I8, {0, 5, -128, 7}, {0, 0, -1, -2}, {0, 0, -128, -3}},
    {"trunc_divide", TS_I32, {0, -5, -0x1p31, 7}, {0, 0, -1, -2}, {0, 0, -0x1p31, -3}},
    {"trunc_divide", TS_I64, {0, -5, -0x1p63, 7}, {0, 0, -1, -2}, {0, 0, -0x1p63, -3}},
    {"trunc_divide", TS_U8, {0, 5, 255, 7}, {0, 0, 0, 2}, {0, 0, 0, 3}},
    {"trunc_divide", TS_U64, {0, 5, 0x1p63, 0x1p63}, {0, 0, 0, 2}, {0, 0, 0, 0x1p62}},
    {"floor_divide", TS_I32, {0, -5, -0x1p31, 7}, {0, 0, -1, -2}, {0, 0, -0x1p31, -4}},
    {"mod", TS_I8, {0, 5, -128, 7}, {0, 0, -1, -2}, {0, 0, 0, -1}},
    {"mod", TS_I64, {0, 5, -0x1p63, 7}, {0, 0, -1, -2}, {0, 0, 0, -1}},
    {"fmod", TS_I32, {0, 5, -0x1p31, 7}, {0, 0, -1, -2}, {0, 0, 0, 1}},
    {"fmod", TS_U64, {0, 5, 0x1p63, 7}, {0, 0, 0, 4}, {0, 0, 0, 3}},
    {"power", TS_I32, {2, 1, -1, -1}, {-1, -5, -3, -2}, {0, 1, -1, 1}},
    {"power", TS_I64, {0, -3, 0, -2}, {-1, -1, 0, 3}, {0, 0, 1, -8}},
    {"left_shift", TS_U8, {255, 1, 1, 3}, {8, 255, 7, 1}, {0, 0, 128, 6}},
    {"right_shift", TS_U32, {255, 1, 0x1p31, 3}, {32, 255, 31, 1}, {0, 0, 1, 1}},
};
static const called casts[] = {
    {"cast to=i8", TS_F32, {300.5, -300.5, NAN, -1.5}, {0}, {127, -128, 0, -1}},
    {"cast to=u8", TS_F32, {INFINITY, -INFINITY, NAN, 2.5}, {0}, {255, 0, 0, 2}},
    {"cast to=i64", TS_F64, {1e30, -1e30, NAN, -2.5}, {0}, {0x1p63, -0x1p63, 0, -2}},
};

/* An image that is not there is an error, also of a box none of whose points lies within. */
static void check_outside(const char *target)
{
    ts_error e = {0};
    ts_graph *g = ts_graph_make();
    ts_array in[3], y = {0};
    const int64_t dim[3][4] = {{1, 1, 2, 2}, {1, 4}, {1}};
    const ts_dtype kind[] = {TS_F32, TS_F32, TS_I64};
    const int rank[] = {4, 2, 1};
    ts_given given[] = {{.name = "x"}, {.name = "box"}, {.name = "image"}};
    ts_tensor t[3];
    for (int i = 0; i < 3; i++) {
        CHECK(ts_array_make(&in[i], kind[i], rank[i], dim[i], &e));
        given[i].value = in[i];
        t[i] = ts_input(g, given[i].name, kind[i], rank[i], dim[i]);
    }
    for (int i = 0; i < 4; i++)
        store_real(TS_F32, in[1].data, i, 100 + 100 * (i / 2));
    store_whole(TS_I64, in[2].data, 0, 7);
    ts_tensor made = ts_call(g, "roi_align bins=[1,1] points=1 most=1", 3, t);
    if (!CHECK(!ts_eval(1, &made, 3, given, &(ts_options){.target = target, .threads = 1}, &y, &e) &&
               strstr(e.text, "input \"image\" holds 7 at [0]; x has rows 0 to 0")))
        printf("  %s: %s\n", target, e.text);
    for (int i = 0; i < 3; i++)
        ts_array_free(&in[i]);
    ts_array_free(&y), ts_graph_free(g);
}

int main(void)
{
    static const char *const target[] = {"interp", "c"};
    for (int t = 0; t < 2; t++)
        check_outside(target[t]);
    for (int t = 0; t < 2; t++)
        for (int known = 0; known < 2; known++) {
            for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                called_check(&rows[i], 2, target[t], known);
            for (size_t i = 0; i < sizeof casts / sizeof *casts; i++)
                called_check(&casts[i], 1, target[t], known);
        }
    return check_done();
}
