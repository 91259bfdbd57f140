/* ctest: large timeout=900
 * Products formed by matrix units on the stand-in for the driver, with all its checks: ragged extents, rows and columns
 * that lie either way round, slices in rings and alone, epilogues, batches, images, warps that share a sum. Sums of
 * small whole numbers give the interpreter's bits. */
#include "tests/backends/cuda/rig.h"
#include "tests/backends/row.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include "graph/base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One plan of all; dim tells a row's kernel from the others. */
static const struct {
    const char *row, *op, *dim, *loops;
} cases[] = {
    {"a bf16[128,128]; b bf16[128,64]; y matmul a b", "matmul", "\"m\":128",
     "m/64@block n/32@block k/32+a@shared+b@shared k/16@unroll m/32@warp n/16@warp m/16@unroll n/8@unroll m@mma n@mma "
     "k@mma"},
    {"a bf16[129,128]; w! bf16[128,64]; y matmul a w", "matmul", "\"m\":129",
     "m/64@block n/32@block k/32+a*3+b*3 k/16 m/32@warp n/16@warp m/16@unroll n/8@unroll m@mma n@mma k@mma"},
    {"a bf16[100,70]; b bf16[70,90]; y matmul a b", "matmul", "\"m\":100",
     "m/64@block n/64@block k/32+a*2+b*2 k/16 m/32@warp n/32@warp m/16@unroll n/8@unroll m@mma n@mma k@mma"},
    {"a f16[101,70]; w! f16[70,90]; c f16[90]; p matmul a w; s add p c; y relu s", "matmul", "\"m\":101",
     "m/64@block n/64@block k/16+a*4+b*4 m/32@warp n/32@warp m/16@unroll n/8@unroll m@mma n@mma k@mma"},
    {"a bf16[70,102]; b bf16[90,70]; t transpose axes=[1,0] a; u transpose axes=[1,0] b; y matmul t u", "matmul",
     "\"m\":102",
     "m/64@block n/48@block k/48+a*2+b*2 k/16@unroll m/32@warp n/24@warp m/16@unroll n/8@unroll m@mma n@mma k@mma"},
    {"a bf16[7,103]; b bf16[103,5]; y matmul a b", "matmul", "\"m\":7",
     "m/16@block n/8@block k/32+a*2+b*2 k/16 m@mma n@mma k@mma"},
    {"a bf16[3,40,48]; b bf16[3,48,56]; y matmul a b", "matmul", "\"m\":40",
     "b@block m/48@block n/64@block k/16+a*3+b*3 m/16@warp n/32@warp n/8@unroll m@mma n@mma k@mma"},
    {"a f32[104,70]; b f32[70,90]; y matmul a b", "matmul", "\"m\":104",
     "m/64@block n/64@block k/16+a*2+b*2 k/8 m/32@warp n/32@warp m/16@unroll n/8@unroll m@mma n@mma k@mma"},
    {"a f32[105,72]; w! f32[72,96]; y matmul a w", "matmul", "\"m\":105",
     "m/32@block n/32@block k/24+a*2+b*2 k/8 m/16@warp n/16@warp n/8@unroll m@mma n@mma k@mma"},
    {"a f32[106,70]; b f32[70,90]; y matmul a b", "matmul", "\"m\":106",
     "m/32@block n/64@block k/16+a*3+b*3 k m/4@lane n/4@lane m@unroll n@unroll"},
    {"a f32[107,72]; b f32[72,96]; y matmul a b", "matmul", "\"m\":107",
     "m/32@block n/64@block k/8+a*2+b*2 k m/16@warp m/2@lane n/16@lane m@unroll n@unroll"},
};

typedef struct trial {
    ts_graph *g;
    row_inputs in;
    ts_tensor y[COUNT(cases)];
    ts_array want[COUNT(cases)], got[COUNT(cases)];
    text schema;
} trial;

static bool make(trial *t, const char *path, err *e)
{
    bool ok = true;
    t->g = ts_graph_make();
    text_add(&t->schema, "{\"format\":\"tiling/1\",\"rules\":[");
    for (int i = 0; ok && i < COUNT(cases); i++) {
        ok = (t->y[i] = row_build(t->g, cases[i].row, i, &t->in)) != NULL;
        text_add(&t->schema, "%s{\"match\":{\"op\":[\"%s\"],\"dims\":{%s}},\"loops\":[\"%s\"]}", i ? ",\n" : "\n",
                 cases[i].op, cases[i].dim, cases[i].loops);
    }
    text_add(&t->schema, "]}\n");
    return ok && file_save(path, t->schema.s, t->schema.len, e);
}

static void check_rules(trial *t, const ts_options *o) /* each decides a kernel */
{
    err e = {0};
    ts_plan *p = ts_plan_of(t->g, COUNT(cases), t->y, 0, NULL, o, &e);
    char *json = p ? ts_plan_json(p, &e) : NULL, name[24];
    for (int i = 0; CHECK(json) && i < COUNT(cases); i++) {
        snprintf(name, sizeof name, "\"rule\":\"rule %d\"", i);
        if (!CHECK(strstr(json, name)))
            printf("  no kernel goes by %s: %s\n", name, cases[i].loops);
    }
    if (getenv("VERBOSE"))
        printf("%s\n", json);
    ts_free(json), ts_plan_free(p);
}

int main(void)
{
    static trial t;
    char path[160];
    err e = {0};
    const int skipped = rig_begin();
    if (skipped)
        return skipped;
    scratch own = scratch_make();
    snprintf(path, sizeof path, "%s/matrix.json", own.path);
    const ts_options interp = {.target = "interp"}, cuda = {.target = "cuda", .schema = path, .cache_dir = "none"};
    if (!CHECK(make(&t, path, &e) && ts_eval(COUNT(cases), t.y, t.in.n, t.in.given, &interp, t.want, &e)))
        printf("  %s\n", e.text);
    check_rules(&t, &cuda);
    if (!CHECK(ts_eval(COUNT(cases), t.y, t.in.n, t.in.given, &cuda, t.got, &e)))
        printf("  %s\n", e.text);
    for (int i = 0; i < COUNT(cases) && !err_is(&e); i++) {
        const int64_t at = row_differs(&t.want[i], &t.got[i], 0);
        if (!CHECK(at < 0))
            printf("  %s\n  %s\n  element %lld\n", cases[i].row, cases[i].loops, (long long)at);
    }
    for (int i = 0; i < COUNT(cases); i++)
        ts_array_free(&t.want[i]), ts_array_free(&t.got[i]);
    row_inputs_free(&t.in), text_free(&t.schema), ts_graph_free(t.g), scratch_remove(&own);
    return check_done();
}
