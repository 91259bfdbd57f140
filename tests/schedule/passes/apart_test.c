/* "fuse": "none" of operations, groups and stages within kernels, over whole models: what comes out of them is a kernel
 * of its own, and results have the same bits, for sums are taken in the order in which they were.
 * ctest: timeout=300 */
#include "tests/check.h"
#include "tests/scratch.h"
#include "tessera.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct net {
    const char *name;
    const char *dims[2];
} net;
static const net bert = {"bert-tiny", {"batch=2", "seq=16"}}, gpt2 = {"gpt2-tiny", {"batch=1", "seq=16"}},
                 resnet = {"resnet-tiny", {"batch=2", NULL}};

typedef struct planned { /* and what it computed */
    ts_model *m;
    ts_plan *p;
    char *json;
    ts_array y;
} planned;

static bool fill(planned *of, ts_error *e)
{
    bool ok = true;
    for (int i = 0; ok && i < ts_model_inputs(of->m); i++) {
        ts_port in;
        ts_array v = {0};
        ok = ts_model_input(of->m, i, &in) && ts_array_make(&v, in.dtype, in.rank, in.dim, e);
        if (ok)
            ts_array_random(&v, (uint64_t)i, in.below);
        ok = ok && ts_plan_set(of->p, i, &v, e);
        ts_array_free(&v);
    }
    return ok;
}

static bool compute(planned *out, const net *of, const char *rules, ts_error *e)
{
    scratch folder = scratch_make();
    char path[200], file[500];
    snprintf(path, sizeof path, "%s/rules.json", folder.path);
    snprintf(file, sizeof file, "{\"format\":\"tiling/1\",\"rules\":[%s]}", rules ? rules : "");
    const ts_options o = {.target = "c", .schema = rules ? path : NULL, .threads = 2};
    *out = (planned){.m = ts_model_open(of->name, e)};
    bool ok = out->m && ts_model_bind(out->m, of->dims[1] ? 2 : 1, of->dims, NULL, e) &&
              ts_file_write(path, file, strlen(file), e);
    out->p = ok ? ts_plan_make(out->m, &o, e) : NULL;
    scratch_free(&folder);
    return out->p && (out->json = ts_plan_json(out->p, e)) && fill(out, e) && ts_plan_run(out->p, e) &&
           ts_plan_get(out->p, 0, &out->y, e);
}

static void planned_free(planned *b)
{
    ts_array_free(&b->y);
    ts_free(b->json);
    ts_plan_free(b->p);
    ts_model_free(b->m);
}

static int kernels(const planned *b, const char *does) /* of that operation */
{
    char member[60];
    int n = 0;
    snprintf(member, sizeof member, "\"op\":\"%s\"", does);
    for (const char *at = b->json; (at = strstr(at, member)); at += strlen(member))
        n++;
    return n;
}

/* terms: of the sums that are taken in another order, since values lie in another one; 0: the same bits */
static bool same(const ts_array *a, const ts_array *b, double terms)
{
    double most = 0, size = 0;
    for (int64_t i = 0; i < ts_array_count(a); i++) {
        const double x = ts_array_at(a, i), y = ts_array_at(b, i);
        most = fmax(most, fabs(x - y)), size = fmax(size, fabs(x));
    }
    return most <= 0x1p-23 * sqrt(terms) * size;
}

/* Under the rule there are so many kernels of that operation more than without it. */
static void comes_out(const net *of, const char *rules, const char *does, int more, double terms)
{
    planned fused, apart = {0};
    ts_error e = {0};
    const bool ok = compute(&fused, of, NULL, &e) && compute(&apart, of, rules, &e);
    CHECK_TEXT(e.text, "");
    if (ok) {
        const int n = kernels(&apart, does) - kernels(&fused, does);
        if (!CHECK(n == more))
            printf("  %s, %s: %d more kernels of %s\n", of->name, rules, n, does);
        if (!CHECK(same(&fused.y, &apart.y, terms)))
            printf("  %s, %s: other results\n", of->name, rules);
        CHECK(!strstr(apart.json, "decides no kernel"));
    }
    planned_free(&fused), planned_free(&apart);
}

enum { LAYERS = 53, DEEP = 9 * 64 }; /* convolutions one after another, the terms of the longest sum of one */

static void test_operations(void)
{
    comes_out(&bert, "{\"match\":{\"op\":[\"gelu\"]},\"fuse\":\"none\"}", "gelu", 2, 0);
    comes_out(&gpt2, "{\"match\":{\"op\":[\"gelu\"]},\"fuse\":\"none\"}", "gelu", 2, 0);
    comes_out(&resnet, "{\"match\":{\"op\":[\"relu\"]},\"fuse\":\"none\"}", "relu", 16, LAYERS * DEEP);
    comes_out(&bert, "{\"match\":{\"op\":\"tanh\"},\"fuse\":\"none\"}", "tanh", 1, 0);
    comes_out(&resnet, "{\"match\":{\"op\":[\"add\"]},\"fuse\":\"none\"}", "add", 26, 0);
}

static void test_groups(void) /* a group comes out as one kernel */
{
    comes_out(&bert, "{\"match\":{\"op\":\"softmax\"},\"fuse\":\"none\"}", "softmax", 2, 0);
    comes_out(&gpt2, "{\"match\":{\"op\":\"softmax\"},\"fuse\":\"none\"}", "softmax", 2, 0);
}

static void test_stages(void)
{
    comes_out(&resnet, "{\"match\":{\"name\":\"layer1.0.conv2.weight\"},\"fuse\":\"none\"}", "conv2d", 2,
              LAYERS * DEEP);
    comes_out(&resnet, "{\"match\":{\"stage\":\"max_pool\"},\"fuse\":\"none\"}", "max_pool", 1, 0);
}

int main(void)
{
    test_operations();
    test_groups();
    test_stages();
    return check_done();
}
