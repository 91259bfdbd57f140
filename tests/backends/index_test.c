/* An index that each run says: one program reads, and writes, one row of a tensor where it lies, whichever it is. */
#include "tests/check.h"
#include "tessera.h"

#include <stdio.h>
#include <string.h>

enum { ROWS = 32, A = 6, B = 5 };

/* y = the sum of squares of x[i]; then x[i] = v */
static ts_plan *reader(ts_graph *g, const char *target)
{
    ts_error e = {0};
    const ts_tensor x = ts_input(g, "x", TS_F32, 3, (int64_t[]){ROWS, A, B}), i = ts_input(g, "i", TS_I64, 0, NULL),
                    v = ts_input(g, "v", TS_F32, 2, (int64_t[]){A, B}), row = ts_call2(g, "gather axis=0", x, i),
                    y = ts_call1(g, "sum", ts_call1(g, "square", row));
    const ts_state written = {x, ts_call3(g, "scatter axis=0", x, i, v)};
    ts_plan *p = ts_plan_of(g, 1, &y, 1, &written, &(ts_options){.target = target, .threads = 2}, &e);
    if (!CHECK(p && ts_plan_build(p, &e)))
        printf("  %s\n", (ts_graph_ok(g, &e), e.text));
    return p;
}

/* What is foretold to move where one row of x is put in: the row twice, the index, and the row that was, where it is
 * added to; all of x where it lies elsewhere afterwards. Into a cache a row that is added to comes once. */
static void foretold(const char *how, bool stays, double bytes, double into)
{
    ts_graph *g = ts_graph_make();
    ts_error e = {0};
    const ts_tensor x = ts_input(g, "x", TS_F32, 3, (int64_t[]){ROWS, A, B}), i = ts_input(g, "i", TS_I64, 0, NULL),
                    v = ts_input(g, "v", TS_F32, 2, (int64_t[]){A, B});
    const ts_state written = {x, ts_call3(g, how, x, i, v)};
    ts_plan *p = stays ? ts_plan_of(g, 0, NULL, 1, &written, &(ts_options){.target = "c"}, &e)
                       : ts_plan_of(g, 1, &written.to, 0, NULL, &(ts_options){.target = "c"}, &e);
    char *json = p ? ts_plan_json(p, &e) : NULL, want[2][40];
    snprintf(want[0], sizeof *want, "\"bytes\":%.0f,\"calls\"", bytes);
    snprintf(want[1], sizeof *want, "\"traffic\":{\"L1\":%.0f,", into);
    for (int k = 0; k < 2; k++)
        if (!CHECK(json && strstr(json, want[k])))
            printf("  %s: %s expected in\n%s\n", how, want[k], json ? json : e.text);
    ts_free(json), ts_plan_free(p), ts_graph_free(g);
}

static void set(ts_plan *p, const char *name, ts_dtype dtype, int rank, void *data)
{
    static const int64_t x[] = {ROWS, A, B};
    ts_array a = {.dtype = dtype, .rank = rank, .data = data};
    ts_error e = {0};
    memcpy(a.dim, x + 3 - rank, (size_t)rank * sizeof *x);
    CHECK(ts_plan_set(p, ts_plan_find(p, name), &a, &e));
}

static void test(const char *target)
{
    ts_graph *g = ts_graph_make();
    ts_error e = {0};
    ts_plan *p = reader(g, target);
    static float x[ROWS][A][B], v[A][B];
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < A * B; k++)
            x[i][k / B][k % B] = (float)(i + k % 7);
    set(p, "x", TS_F32, 3, x);
    for (int64_t i = ROWS - 1; i >= 0; i--) {
        double want = 0, new = 0;
        ts_array y = {0};
        for (int k = 0; k < A * B; k++)
            want += x[i][k / B][k % B] * x[i][k / B][k % B], v[k / B][k % B] = (float)(100 + i + k % 3),
                                                                          new += v[k / B][k % B] * v[k / B][k % B];
        set(p, "i", TS_I64, 0, &i), set(p, "v", TS_F32, 2, v);
        for (int twice = 0; twice < 2; twice++) { /* the second run reads what the first one wrote */
            CHECK(ts_plan_run(p, &e) && ts_plan_get(p, 0, &y, &e) && ts_array_at(&y, 0) == (twice ? new : want));
            ts_array_free(&y);
        }
        memcpy(x[i], v, sizeof v);
    }
    ts_array now = {0};
    CHECK(ts_plan_value(p, ts_plan_find(p, "x"), &now, &e) && !memcmp(now.data, x, sizeof x));
    char *json = ts_plan_json(p, &e);
    if (!strcmp(target, "c"))
        CHECK(strstr(json, "\"arena_bytes\":64,") && strstr(json, "\"state\":[{\"input\":\"x\",\"in_place\":true}]"));
    ts_free(json), ts_array_free(&now);
    ts_plan_free(p), ts_graph_free(g);
}

int main(void)
{
    test("c"), test("interp");
    const double row = A * B * 4, i = 8;
    foretold("scatter axis=0", true, 2 * row + i, 2 * row + i);
    foretold("scatter axis=0 reduce=add", true, 3 * row + i, 2 * row + i);
    foretold("scatter axis=0", false, (2 * ROWS + 1) * row + i, (2 * ROWS + 1) * row + i);
    return check_done();
}
