/* What a range of extents changes in a plan: Strassen's products are taken where they pay in most of it, and add
 * nothing of what another run left behind the end; the register tile is one for the whole range. */
#include "tests/check.h"
#include "tests/scratch.h"

#include "graph/base/base.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 1024 };
static const char machine[] = "l3:1(32MB) l2:2(1MB) l1d:2(32KB) core:2 isa:avx2";
static scratch folder;

/* y = tanh(x w), w [SIDE, SIDE] of a file */
static ts_model *open_product(void)
{
    char path[160], sum[65];
    err e = {0};
    ts_given w = {.name = "w"};
    static const char source[] =
        "{ \"format\": \"graph/1\", \"opset\": { \"\": 17 }, \"weights\": { \"file\": \"w.safetensors\" },\n"
        "  \"inputs\": [ { \"name\": \"x\", \"dtype\": \"f32\", \"shape\": [\"seq\", 1024] } ],\n"
        "  \"outputs\": [ { \"name\": \"y\" } ],\n"
        "  \"nodes\": [ { \"op\": \"MatMul\", \"in\": [\"x\", \"w\"], \"out\": [\"z\"] },\n"
        "    { \"op\": \"Tanh\", \"in\": [\"z\"], \"out\": [\"y\"] } ] }\n";
    snprintf(path, sizeof path, "%s/w.safetensors", folder.path);
    CHECK(ts_array_make(&w.value, TS_F32, 2, (int64_t[]){SIDE, SIDE}, &e));
    ts_array_random(&w.value, 7, 0);
    CHECK(ts_tensors_write(path, 1, &w, sum, &e));
    ts_array_free(&w.value);
    snprintf(path, sizeof path, "%s/graph.json", folder.path);
    CHECK(file_save(path, source, strlen(source), &e));
    ts_model *m = ts_model_open(path, &e);
    if (!CHECK(m != NULL))
        fprintf(stderr, "%s\n", e.text);
    return m;
}

/* ---- which kernels ---- */
static bool plan_has(const char *range, const char *what)
{
    err e = {0};
    ts_model *m = open_product();
    ts_plan *p = ts_plan_make_varying(m, 1, &range, &(ts_options){.machine = machine, .isa = "avx2", .threads = 1}, &e);
    char *json = p ? ts_plan_json(p, &e) : NULL;
    const bool has = json && strstr(json, what);
    if (!CHECK(json != NULL))
        fprintf(stderr, "%s: %s\n", range, e.text);
    ts_free(json), ts_plan_free(p), ts_model_free(m);
    return has;
}

static void test_taken(void)
{
    CHECK(plan_has("seq=1..512", "strassen_blocks"));
    CHECK(!plan_has("seq=1..32", "strassen_blocks"));  /* weights would take longer than products gain */
    CHECK(!plan_has("seq=1..511", "strassen_blocks")); /* the rows of a pair that is not whole: another formula */
}

/* ---- what they give ---- */
static bool run(ts_plan *p, const ts_array *x, ts_array *y)
{
    err e = {0};
    const bool ok = ts_plan_set(p, 0, x, &e) && ts_plan_run(p, &e) && ts_plan_get(p, 0, y, &e);
    if (!CHECK(ok))
        fprintf(stderr, "%s\n", e.text);
    return ok;
}

static ts_array rows_of(int64_t n, double fill) /* of x; fill 0: random numbers */
{
    err e = {0};
    ts_array x = {0};
    CHECK(ts_array_make(&x, TS_F32, 2, (int64_t[]){n, SIDE}, &e));
    ts_array_random(&x, (uint64_t)n, 0);
    for (int64_t i = 0; fill != 0 && i < n * SIDE; i++)
        ((float *)x.data)[i] = (float)fill;
    return x;
}

static void test_garbage(void) /* no number behind the end of an odd extent comes into what is there */
{
    err e = {0};
    const char *range = "seq=1..256";
    ts_model *m = open_product(), *other = open_product();
    const ts_options o = {.threads = 1}, plain = {.threads = 1, .as_written = true};
    ts_plan *p = ts_plan_make_varying(m, 1, &range, &o, &e);
    ts_array x = rows_of(256, NAN), y = {0};
    if (CHECK(p != NULL) && run(p, &x, &y))
        CHECK(isnan(ts_array_at(&y, 0)));
    ts_array_free(&x), ts_array_free(&y);
    for (int n = 1; p && n < 30; n = 3 * n + 2) { /* 1, 5, 17 */
        char dim[16];
        const char *dims = dim;
        ts_array want = {0};
        snprintf(dim, sizeof dim, "seq=%d", n);
        CHECK(ts_model_bind(other, 1, &dims, NULL, &e));
        ts_plan *q = ts_plan_make(other, &plain, &e);
        x = rows_of(n, 0), y = (ts_array){0};
        double far = 0;
        if (CHECK(q != NULL) && run(p, &x, &y) && run(q, &x, &want))
            for (int64_t i = 0; i < (int64_t)n * SIDE; i++) {
                const double off = fabs(ts_array_at(&y, i) - ts_array_at(&want, i));
                far = off <= far ? far : off; /* what is no number, too */
            }
        if (!CHECK(far < 2e-4)) /* sums of 1024 of size 1, and of blocks of them */
            fprintf(stderr, "at %d: %g apart\n", n, far);
        ts_array_free(&x), ts_array_free(&y), ts_array_free(&want);
        ts_plan_free(q);
    }
    ts_plan_free(p), ts_model_free(m), ts_model_free(other);
}

/* ---- loops ---- */
static void test_tile(void)
{
    CHECK(plan_has("seq=1..72", "m/6 k/4 k@unroll m@unroll n@vector"));
    CHECK(plan_has("seq=1..512", "m/6 k/4 k@unroll m@unroll n@vector")); /* 4 rows fit this bound alone better */
}

int main(void)
{
    folder = scratch_make();
    test_taken();
    test_tile();
    test_garbage();
    scratch_free(&folder);
    return check_done();
}
