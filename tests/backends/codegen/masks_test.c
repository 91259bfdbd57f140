/* ctest: large Og
 * masks_test.c - attention under masks: what the C target leaves out gives the interpreter's numbers, and the bits of
 * loops that leave nothing out; rows of which everything is masked, by the triangle and by padding before the first
 * word, too. */
#include "graph/base/base.h"
#include "tests/backends/row.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct problem {
    const char *how; /* the mask is "added", in place of scores ("where"), or "causal" by the operation itself */
    ts_dtype dtype;
    int64_t queries, keys, width;
    double low;
    bool left_out; /* whether anything is */
} problem;

static const problem problems[] = {
    {"added", TS_F32, 128, 128, 16, -3.4028234663852886e38, true},
    {"added", TS_F32, 100, 100, 16, -3.4028234663852886e38, true},
    {"added", TS_F32, 130, 210, 8, -INFINITY, true},
    {"added", TS_F32, 210, 130, 8, -1e31, true},
    {"added", TS_F32, 128, 128, 16, -1e4, false}, /* a score of 20000 would be seen */
    {"added", TS_F64, 128, 128, 16, -1.7976931348623157e308, true},
    {"where", TS_F32, 160, 160, 16, -1e4, true},
    {"where", TS_F32, 160, 160, 16, -10, false},
    {"where", TS_F32, 97, 129, 16, -INFINITY, true},
    {"causal", TS_F32, 200, 200, 20, 0, true},
    {"causal", TS_F64, 96, 96, 12, 0, true},
    {"causal", TS_F32, 100, 300, 12, 0, true},
};

typedef struct rig {
    ts_graph *g;
    ts_tensor y;
    ts_given given[4]; /* q, k, v; which keys are words, or for "causal" what is added for each key */
    int n;
} rig;

/* constant [q, k]: query i of the last ones sees keys up to its own place */
static ts_tensor triangle(ts_graph *g, const problem *p)
{
    ts_array a;
    if (!CHECK(ts_array_make(&a, TS_BOOL, 4, (const int64_t[]){1, 1, p->queries, p->keys}, NULL)))
        return NULL;
    for (int64_t i = 0; i < p->queries; i++)
        for (int64_t j = 0; j < p->keys; j++)
            ((unsigned char *)a.data)[i * p->keys + j] = j <= i + p->keys - p->queries;
    const ts_tensor t = ts_constant(g, NULL, &a);
    ts_array_free(&a);
    return t;
}

static ts_tensor attend(rig *r, const problem *p)
{
    ts_graph *g = r->g;
    const int64_t q[] = {1, 3, p->queries, p->width}, k[] = {1, 3, p->keys, p->width}, words[] = {1, 1, 1, p->keys};
    const bool causal = !strcmp(p->how, "causal");
    const ts_tensor in[] = {ts_input(g, "q", p->dtype, 4, q), ts_input(g, "k", p->dtype, 4, k),
                            ts_input(g, "v", p->dtype, 4, k),
                            ts_input(g, "words", causal ? p->dtype : TS_BOOL, 4, words)};
    if (causal)
        return ts_call(g, "attention causal=1", 4, in);
    ts_tensor seen = ts_call2(g, "logical_and", triangle(g, p), in[3]), low = ts_scalar(g, p->dtype, p->low);
    ts_tensor s = ts_call2(g, "matmul", in[0], ts_call1(g, "transpose axes=[0,1,3,2]", in[1]));
    if (!strcmp(p->how, "added"))
        s = ts_call2(g, "add", s, ts_call3(g, "where", seen, ts_scalar(g, p->dtype, 0), low));
    else
        s = ts_call3(g, "where", seen, s, low);
    return ts_call2(g, "matmul", ts_call1(g, "softmax axis=-1", s), in[2]);
}

/* Padding: the first `before` and last `behind` keys are none. */
static void set_words(ts_array *a, const problem *p, int64_t before, int64_t behind)
{
    for (int64_t j = 0; j < p->keys; j++) {
        const bool word = j >= before && j < p->keys - behind;
        if (a->dtype == TS_BOOL)
            ((unsigned char *)a->data)[j] = word;
        else if (a->dtype == TS_F32)
            ((float *)a->data)[j] = word ? 0 : -INFINITY;
        else
            ((double *)a->data)[j] = word ? 0 : -INFINITY;
    }
}

static bool set_up(rig *r, const problem *p)
{
    static const char *const name[] = {"q", "k", "v", "words"};
    ts_error e = {0};
    ts_tensor leaf[8];
    *r = (rig){.g = ts_graph_make(), .n = 4};
    r->y = attend(r, p);
    const int n = r->y ? ts_leaves(1, &r->y, leaf) : 0;
    for (int i = 0; i < 4; i++) {
        ts_array *a = &r->given[i].value;
        r->given[i].name = name[i];
        for (int k = 0; k < n; k++)
            if (!strcmp(ts_name(leaf[k]), name[i]) && !ts_array_make(a, ts_type(leaf[k]), 4, ts_shape(leaf[k]), &e))
                return CHECK(false);
        if (i < 3)
            ts_array_random(a, (uint64_t)i + 7, 0);
    }
    return CHECK(n >= 4 && ts_graph_ok(r->g, &e));
}

/* What pays is decided by rates: here by some that were measured once, not by those of the machine at hand. */
static const char machine[] =
    "l3:1(32MB) l2:2(2MB) core:2 isa:avx512 rates:avx512(clock=2700,fma=200,latency=4,l1=12000,"
    "l2=4700,l3=1000,memory=560,near=1800,far=1000,seen=25,start=100)";

static bool says_so(const rig *r, const ts_options *o) /* that something is left out */
{
    ts_error e = {0};
    ts_plan *plan = ts_plan_of(r->g, 1, &r->y, 0, NULL, o, &e);
    char *json = plan ? ts_plan_json(plan, &e) : NULL;
    const bool says = json && strstr(json, "the mask leaves nothing beyond");
    CHECK(json);
    ts_free(json), ts_plan_free(plan);
    return says;
}

/* whole: a schema under which nothing is left out; as_is: the same without that, NULL: the guess. */
static void compare(const rig *r, const problem *p, const char *whole, const char *as_is)
{
    static const char *const loops[] = {NULL, "uneven.json"};
    const ts_options interp = {.target = "interp"}, all = {.schema = whole, .threads = 1};
    ts_array want, same, got;
    ts_error e = {0};
    if (!CHECK(ts_eval(1, &r->y, r->n, r->given, &interp, &want, &e) &&
               ts_eval(1, &r->y, r->n, r->given, &all, &same, &e))) {
        printf("  %s\n", e.text);
        return;
    }
    for (int i = 0; i < 3; i++) {
        char path[200];
        snprintf(path, sizeof path, "%.*s%s", (int)(strrchr(whole, '/') - whole) + 1, whole, loops[1]);
        const ts_options o = {.threads = i + 1, .schema = i == 1 && !as_is ? path : as_is};
        if (!CHECK(ts_eval(1, &r->y, r->n, r->given, &o, &got, &e)))
            printf("  %s\n", e.text);
        else {
            const int64_t off = row_differs(&want, &got, p->dtype == TS_F64 ? 1e-12 : 2e-5),
                          bit = i == 1 && !as_is ? -1 : row_differs(&same, &got, 0);
            if (!CHECK(off < 0 && bit < 0))
                printf("  %s %s q=%lld k=%lld low=%g, %d threads: element %lld is %.9g, not %.9g\n", p->how,
                       ts_dtype_name(p->dtype), (long long)p->queries, (long long)p->keys, p->low, i + 1,
                       (long long)(off < 0 ? bit : off), ts_array_at(&got, off < 0 ? bit : off),
                       ts_array_at(&want, off < 0 ? bit : off));
            ts_array_free(&got);
        }
    }
    ts_array_free(&want), ts_array_free(&same);
}

static void write_schema(const scratch *at, const char *name, const char *rule, char path[200])
{
    snprintf(path, 200, "%s/%s", at->path, name);
    FILE *f = fopen(path, "w");
    if (CHECK(f)) {
        fprintf(f, "{\"format\": \"tiling/1\", \"rules\": [{%s}]}\n", rule);
        fclose(f);
    }
}

int main(void)
{
    static const int64_t padding[][2] = {{0, 0}, {0, 9}, {3, 0}, {70, 1}};
    scratch at = scratch_make();
    char whole[200], uneven[200], blocks[200], all_blocks[200];
    write_schema(&at, "whole.json", "\"masked\": \"compute\"", whole);
    write_schema(&at, "uneven.json",
                 "\"match\": {\"op\": [\"softmax\", \"attention\"]}, \"optional\": true, \"loops\": "
                 "[\"r r1/24 ; matmul: n/48 r1/4 k@unroll r1@unroll n@vector\"]",
                 uneven);
    write_schema(&at, "blocks.json", "\"match\": {\"op\": \"attention\"}, \"blocks\": 24, \"loops\": \"h@core q/24 s\"",
                 blocks);
    write_schema(&at, "all_blocks.json",
                 "\"match\": {\"op\": \"attention\"}, \"blocks\": 24, \"masked\": \"compute\", \"loops\": \"h q/24 s\"",
                 all_blocks);
    for (int i = 0; i < COUNT(problems); i++) {
        rig r;
        if (set_up(&r, &problems[i])) {
            CHECK(!says_so(&r, &(ts_options){.schema = whole}) && !says_so(&r, &(ts_options){.schema = all_blocks}));
            if (!CHECK(says_so(&r, &(ts_options){.machine = machine}) == problems[i].left_out &&
                       says_so(&r, &(ts_options){.schema = blocks}) == problems[i].left_out))
                printf("  %s low=%g\n", problems[i].how, problems[i].low);
            for (int k = 0; k < COUNT(padding); k++) {
                set_words(&r.given[3].value, &problems[i], padding[k][0], padding[k][1]);
                compare(&r, &problems[i], whole, NULL);
                compare(&r, &problems[i], all_blocks, blocks);
            }
        }
        for (int k = 0; k < 4; k++)
            ts_array_free(&r.given[k].value);
        ts_graph_free(r.g);
    }
    scratch_free(&at);
    return check_done();
}
