/* What a range of extents changes in a plan: products by Strassen and Winograd are taken where they pay in most of it,
 * and add nothing of what another run left behind the end; the register tile is one for the whole range. */
#include "tests/check.h"
#include "tests/scratch.h"

#include "graph/base/base.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char machine[] = "l3:1(32MB) l2:2(1MB) l1d:2(32KB) core:2 isa:avx2";
static scratch folder;

/* A model of "x" and a weight "w" of a file */
typedef struct source {
    const char *shape, *nodes;
    int rank;           /* of both */
    int64_t x[4], w[4]; /* x: 0 where it varies */
} source;
#define NODE(op, in, out, attr) "{\"op\":\"" op "\",\"in\":[\"" in "\"],\"out\":[\"" out "\"],\"attr\":{" attr "}}"
#define CONV(x, y, stride) NODE("Conv", x "\",\"w", y, "\"strides\":" stride ",\"pads\":[1,1,1,1]")
static const source product = {
    "[\"seq\",1024]", NODE("MatMul", "x\",\"w", "z", "") "," NODE("Tanh", "z", "y", ""), 2, {0, 1024}, {1024, 1024}};
static const source image = {
    "[1,128,\"h\",24]", CONV("x", "z", "[2,2]") "," CONV("z", "y", "[1,1]"), 4, {1, 128, 0, 24}, {128, 128, 3, 3}};

static ts_model *open_source(const source *s)
{
    char path[160], sum[65];
    err e = {0};
    ENDED_BY(text_free) text t = {0};
    ts_given w = {.name = "w"};
    snprintf(path, sizeof path, "%s/w.safetensors", folder.path);
    CHECK(ts_array_make(&w.value, TS_F32, s->rank, s->w, &e));
    ts_array_random(&w.value, 7, 0);
    CHECK(ts_tensors_write(path, 1, &w, sum, &e));
    ts_array_free(&w.value);
    text_add(&t, "{\"format\":\"graph/1\",\"opset\":{\"\":17},\"weights\":{\"file\":\"w.safetensors\"},");
    text_add(&t, "\"inputs\":[{\"name\":\"x\",\"dtype\":\"f32\",\"shape\":%s}],\"outputs\":[{\"name\":\"y\"}],",
             s->shape);
    text_add(&t, "\"nodes\":[%s]}", s->nodes);
    snprintf(path, sizeof path, "%s/graph.json", folder.path);
    CHECK(file_save(path, t.s, t.length, &e));
    ts_model *m = ts_model_open(path, &e);
    if (!CHECK(m != NULL))
        fprintf(stderr, "%s\n", e.text);
    return m;
}

static bool plan_has(const source *s, const char *range, const char *what)
{
    err e = {0};
    ts_model *m = open_source(s);
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
    CHECK(plan_has(&product, "seq=1..512", "strassen_blocks"));
    CHECK(!plan_has(&product, "seq=1..32", "strassen_blocks"));  /* weights would take longer than products gain */
    CHECK(!plan_has(&product, "seq=1..511", "strassen_blocks")); /* rows of a pair that is not whole */
    CHECK(plan_has(&image, "h=12..24", "winograd_tiles"));
    CHECK(plan_has(&product, "seq=1..72", "m/6 k/4 k@unroll m@unroll n@vector"));
    CHECK(plan_has(&product, "seq=1..512", "m/6 k/4 k@unroll m@unroll n@vector")); /* 4 rows fit this bound better */
}

/* What p gives of x, whose varying dimension is n; fill 0: of random numbers */
static ts_array given(ts_plan *p, const source *s, int64_t n, double fill)
{
    err e = {0};
    int64_t dim[4];
    ts_array x = {0}, y = {0};
    for (int i = 0; i < s->rank; i++)
        dim[i] = s->x[i] ? s->x[i] : n;
    CHECK(ts_array_make(&x, TS_F32, s->rank, dim, &e));
    ts_array_random(&x, (uint64_t)n, 0);
    for (int64_t i = 0; fill != 0 && i < ts_array_count(&x); i++)
        ((float *)x.data)[i] = (float)fill;
    if (!CHECK(p && ts_plan_set(p, 0, &x, &e) && ts_plan_run(p, &e) && ts_plan_get(p, 0, &y, &e)))
        fprintf(stderr, "%s\n", e.text);
    ts_array_free(&x);
    return y;
}

/* Behind the end, what it gives has what was left of larger runs, and first what is no number. */
static void test_garbage(const source *s, const char *range, int high, int low, int step)
{
    err e = {0};
    ts_model *m = open_source(s), *other = open_source(s);
    ts_plan *p = ts_plan_make_varying(m, 1, &range, &(ts_options){.threads = 1}, &e);
    ts_array y = given(p, s, strtol(strstr(range, "..") + 2, NULL, 10), NAN);
    CHECK(isnan(ts_array_at(&y, 0)));
    ts_array_free(&y);
    for (int n = high; n >= low; n -= step) {
        char dim[16];
        snprintf(dim, sizeof dim, "%.*s=%d", (int)strcspn(range, "="), range, n);
        CHECK(ts_model_bind(other, 1, (const char *[]){dim}, NULL, &e));
        ts_plan *q = ts_plan_make(other, &(ts_options){.target = "interp"}, &e);
        ts_array want = given(q, s, n, 0);
        double far = 0, most = 1;
        y = given(p, s, n, 0);
        CHECK(ts_array_count(&y) == ts_array_count(&want));
        for (int64_t i = 0; i < ts_array_count(&want); i++) {
            const double off = fabs(ts_array_at(&y, i) - ts_array_at(&want, i));
            far = off <= far ? far : off, most = fmax(most, fabs(ts_array_at(&want, i))); /* what is no number, too */
        }
        if (!CHECK(far < 2e-4 * most)) /* sums of 1024 of size 1, and of blocks of them; two of 1152 */
            fprintf(stderr, "at %d: %g apart\n", n, far);
        ts_array_free(&y), ts_array_free(&want), ts_plan_free(q);
    }
    ts_plan_free(p), ts_model_free(m), ts_model_free(other);
}

int main(void)
{
    folder = scratch_make();
    test_taken();
    test_garbage(&product, "seq=1..256", 17, 1, 4);
    test_garbage(&image, "h=12..24", 24, 12, 1);
    scratch_free(&folder);
    return check_done();
}
