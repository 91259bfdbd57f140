/* ctest: drivers
 * Values that go from plan to plan on a card, and from it and to it. On one card they do not cross the bus: the
 * stand-in counts copies, which do not grow with the runs. */
#include "tessera_shared.h"
#include "tests/backends/cuda/rig.h"
#include "tests/backends/merged.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1024 };
static const int64_t size[] = {N};

static ts_plan *doubled(ts_graph *g, const char *name, err *e)
{
    const ts_tensor x = ts_input(g, name, TS_F32, 1, size), y = ts_call2(g, "add", x, x);
    ts_plan *p = ts_plan_of(g, 1, &y, 0, NULL, &(ts_options){.target = "cuda", .cache_folder = "none"}, e);
    float v[N] = {1};
    return !p || ts_plan_set(p, 0, &(ts_array){TS_F32, 1, {N}, v}, e) ? p : NULL;
}

static bool run_often(void *user) /* of two that are added */
{
    const int *times = user;
    err e = {0};
    ts_graph *g = ts_graph_make();
    ts_plan *x = doubled(g, "x", &e), *y = doubled(g, "y", &e), *z = doubled(g, "z", &e);
    ts_array out = {0};
    bool ok = x && y && z && ts_merge_link(z, "z", x, 0, TS_REPLACE, &e) && ts_merge_link(z, "z", y, 0, TS_ADD, &e);
    for (int i = 0; ok && i < *times; i++)
        ok = ts_plan_run(x, &e) && ts_plan_run(y, &e) && ts_plan_run(z, &e);
    ok = ok && ts_plan_get(z, 0, &out, &e) && ts_array_at(&out, 0) == 8;
    if (!ok)
        printf("  %s\n", e.text);
    ts_array_free(&out), ts_plan_free(x), ts_plan_free(y), ts_plan_free(z), ts_graph_free(g);
    return ok;
}

static void count_copies(const char *folder, int times, char out[512])
{
    char path[512];
    snprintf(path, sizeof path, "%s/copies.%d", folder, times);
    setenv("SIMCUDA_COPIES", path, 1);
    CHECK(rig_apart(run_often, &times));
    unsetenv("SIMCUDA_COPIES");
    FILE *f = fopen(path, "r");
    if (CHECK(f && fgets(out, 512, f)))
        fclose(f);
}

int main(void)
{
    char few[512] = "", many[512] = "";
    const int skipped = rig_cuda();
    if (skipped)
        return skipped;
    scratch folder = scratch_make();
    count_copies(folder.path, 2, few), count_copies(folder.path, 9, many);
    CHECK(strstr(few, "\"to_device\":2,\"to_host\":1,") != NULL);
    CHECK_TEXT(many, few);
    scratch_free(&folder);
    merged_check("cuda:0", "cuda:0", 60);
    merged_check("c", "cuda:0", 60);
    merged_check("cuda:0", "c", 60);
    return check_done();
}
