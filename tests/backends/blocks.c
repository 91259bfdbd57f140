#include "graph/base/base.h"
#include "tests/backends/blocks.h"
#include "tests/backends/row.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct problem {
    ts_dtype dtype;
    int64_t batch, heads, queries, keys, width, block;
    const char *how; /* "plain", "causal", "added", "zeros": a mask, and rows of it alone give zeros */
    const char *loops;
    double halves; /* precision of products: of f16, of bf16; 0: as all else */
} problem;

#define F16 0x1p-10
#define BF16 0x1p-7

static const problem problems[] = {
    {TS_F32, 1, 3, 40, 64, 16, 16, "plain", NULL, 0},
    {TS_F32, 2, 3, 33, 70, 8, 16, "plain", NULL, 0},
    {TS_F32, 1, 2, 40, 131, 20, 32, "plain", "h q/8@core s", 0},
    {TS_F32, 1, 2, 64, 64, 16, 32, "causal", NULL, 0},
    {TS_F32, 1, 2, 50, 77, 16, 10, "causal", NULL, 0},
    {TS_F32, 2, 2, 30, 50, 8, 20, "added", NULL, 0},
    {TS_F32, 1, 2, 30, 50, 8, 7, "zeros", "h@core q/30 s", 0},
    {TS_F64, 1, 2, 19, 37, 5, 12, "added", NULL, 0},
    {TS_F64, 1, 1, 1, 37, 5, 12, "causal", NULL, 0},
    {TS_F32, 1, 2, 48, 64, 32, 32, "plain", NULL, BF16},
    {TS_F32, 2, 3, 33, 70, 24, 48, "added", NULL, F16},
    {TS_F32, 1, 2, 50, 77, 16, 20, "causal", NULL, BF16},
};

typedef struct rig {
    ts_graph *g;
    ts_tensor y;
    ts_given given[4]; /* q, k, v, what is added to scores */
    int n;
} rig;

static ts_tensor attend(rig *r, const problem *p)
{
    ts_graph *g = r->g;
    const int64_t q[] = {p->batch, p->heads, p->queries, p->width}, k[] = {p->batch, p->heads, p->keys, p->width},
                  mask[] = {p->batch, 1, p->queries, p->keys};
    const ts_tensor in[] = {ts_input(g, "q", p->dtype, 4, q), ts_input(g, "k", p->dtype, 4, k),
                            ts_input(g, "v", p->dtype, 4, k), ts_input(g, "mask", p->dtype, 4, mask)};
    const bool masked = !strcmp(p->how, "added") || !strcmp(p->how, "zeros");
    r->n = masked ? 4 : 3;
    if (!strcmp(p->how, "zeros")) {
        ts_tensor s = ts_call2(g, "matmul", in[0], ts_call1(g, "transpose axes=[0,1,3,2]", in[1]));
        return ts_call2(g, "matmul", ts_call1(g, "masked_softmax", ts_call2(g, "add", s, in[3])), in[2]);
    }
    return ts_call(g, strcmp(p->how, "causal") ? "attention" : "attention causal=1", r->n, in);
}

/* Row 3 sees nothing, row 5 the first keys only, others all but a few. */
static void fill_mask(ts_array *a, const problem *p)
{
    for (int64_t i = 0; i < ts_array_count(a); i++) {
        const int64_t row = i / p->keys % p->queries, key = i % p->keys;
        const bool hidden = row == 3 || (row == 5 && key > 4) || (row + key) % 7 == 0;
        const double v = hidden ? -INFINITY : 0.25 * (double)(key % 3);
        if (a->dtype == TS_F64)
            ((double *)a->data)[i] = v;
        else
            ((float *)a->data)[i] = (float)v;
    }
}

/* Rounded once are operands, scores, weights and sums of blocks. */
static double tolerance(const problem *p)
{
    return p->dtype == TS_F64 ? 1e-13 : p->halves > 0 ? 4 * p->halves : 2e-6;
}

static bool set_up(rig *r, const problem *p)
{
    static const char *const name[] = {"q", "k", "v", "mask"};
    ts_error e = {0};
    ts_tensor leaf[8];
    *r = (rig){.g = ts_graph_make()};
    r->y = attend(r, p);
    const int n = r->y ? ts_leaves(1, &r->y, leaf) : 0;
    for (int i = 0; i < r->n; i++) {
        ts_array *a = &r->given[i].value;
        r->given[i].name = name[i];
        for (int k = 0; k < n; k++)
            if (!strcmp(ts_name(leaf[k]), name[i]) && !ts_array_make(a, ts_type(leaf[k]), 4, ts_shape(leaf[k]), &e))
                return CHECK(false);
        ts_array_random(a, (uint64_t)i + 7, 0);
        if (i == 3)
            fill_mask(a, p);
    }
    if (p->halves > 0)
        CHECK(ts_mixed_precision(r->g, 1, &r->y, p->halves < BF16 ? TS_F16 : TS_BF16, &r->y));
    return CHECK(r->y && ts_graph_ok(r->g, &e));
}

/* Beside those that make halves of q, k and v, and f32 of the result */
static bool is_one_kernel(const rig *r, const problem *p, const ts_options *o)
{
    ts_error e = {0};
    ts_plan *plan = ts_plan_of(r->g, 1, &r->y, 0, NULL, o, &e);
    char *json = plan ? ts_plan_json(plan, &e) : NULL;
    int kernels = 0;
    for (const char *at = json; at && (at = strstr(at, "\"stages\":")); at++)
        kernels++;
    const bool is = json && (kernels == 1 || (p->halves > 0 && kernels <= 5)) && strstr(json, "block_mean");
    if (!is)
        printf("  %d kernels %s\n", kernels, e.text);
    ts_free(json), ts_plan_free(plan);
    return is;
}

static void compare(const rig *r, const problem *p, const ts_options *o, const ts_array *want)
{
    ts_array got;
    ts_error e = {0};
    if (!CHECK(ts_eval(1, &r->y, r->n, r->given, o, &got, &e))) {
        printf("  %s %s q=%lld k=%lld in blocks of %lld: %s\n", p->how, ts_dtype_name(p->dtype), (long long)p->queries,
               (long long)p->keys, (long long)p->block, e.text);
        return;
    }
    const int64_t off = row_differs(want, &got, tolerance(p));
    if (!CHECK(off < 0))
        printf("  %s, %s %s q=%lld k=%lld in blocks of %lld: element %lld is %.9g, not %.9g\n",
               o->target ? o->target : "c", p->how, ts_dtype_name(p->dtype), (long long)p->queries, (long long)p->keys,
               (long long)p->block, (long long)off, ts_array_at(&got, off), ts_array_at(want, off));
    ts_array_free(&got);
}

static void test_problem(const problem *p, const char *path, const ts_options *on, bool cores)
{
    const char *loops = cores ? p->loops : NULL;
    FILE *f = fopen(path, "w");
    rig r;
    if (!CHECK(f))
        return;
    fprintf(f,
            "{\"format\": \"tiling/1\", \"rules\": [{\"match\": {\"op\": \"attention\"}, \"blocks\": %lld%s%s%s}]}\n",
            (long long)p->block, loops ? ", \"loops\": \"" : "", loops ? loops : "", loops ? "\"" : "");
    fclose(f);
    if (set_up(&r, p)) {
        ts_array want;
        const ts_options interp = {.target = "interp"};
        if (CHECK(ts_eval(1, &r.y, r.n, r.given, &interp, &want, NULL))) {
            for (int threads = 1; threads < 4; threads += 2) {
                ts_options o = *on;
                o.schema = path, o.threads = threads;
                CHECK(is_one_kernel(&r, p, &o));
                compare(&r, p, &o, &want);
            }
            ts_array_free(&want);
        }
    }
    for (int i = 0; i < r.n; i++)
        ts_array_free(&r.given[i].value);
    ts_graph_free(r.g);
}

void blocks_check(const ts_options *on, bool cores)
{
    scratch at = scratch_make();
    const char *path = scratch_in(&at, "blocks.json");
    for (int i = 0; i < COUNT(problems); i++)
        test_problem(&problems[i], path, on, cores);
    scratch_free(&at);
}
