/* ctest: drivers large
 * What kernels wait for are the edges of one graph, as many as the ledger lists, and fewer than if they took turns; in
 * whatever order the stand-in does what no edge orders, results are the same. */
#include "backends/device/hosted.h"
#include "backends/driver.h"
#include "tests/backends/cuda/rig.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool fill(ts_model *m, ts_plan *p, err *e)
{
    bool ok = true;
    ts_port port;
    for (int i = 0; ok && ts_model_input(m, i, &port); i++) {
        ts_array v;
        ok = ts_array_make(&v, port.dtype, port.rank, port.dim, e);
        if (ok)
            ts_array_random(&v, 1, port.below), ok = ts_plan_set(p, i, &v, e), ts_array_free(&v);
    }
    return ok;
}

static void check_edges(ts_plan *p)
{
    err e = {0};
    const device_program *q = &p->program->tables.program;
    char *ledger = ts_plan_ledger(p, &e);
    int edges = 0, free = 0; /* kernels that do not wait for the one before */
    for (int k = 0; k < q->kernels; k++) {
        bool before = k == 0;
        for (int i = 0; i < q->kernel[k].waits; i++)
            edges++, before = before || q->kernel[k].wait[i] == k - 1;
        free += !before;
    }
    printf("%d kernels, %d edges, %d begin beside the one before\n", q->kernels, edges, free);
    CHECK(((cuda_host *)p->program->on)->graph != NULL);
    CHECK(edges > 0 && check_count(ledger, "\"by\":\"edge\"") == edges && !check_count(ledger, "\"by\":\"turn\"") &&
          free > 4);
    ts_free(ledger);
}

static bool run(void *user) /* user: where the results go */
{
    err e = {0};
    ts_array out = {0};
    ts_model *m = ts_model_open("bert-tiny", &e);
    const char *const dim[] = {"seq=8"};
    ts_plan *p = m && ts_model_bind(m, 1, dim, NULL, &e) ? ts_plan_make(m, &(ts_options){.target = "cuda"}, &e) : NULL;
    for (int k = 0; p && k < p->plan->n_kernel; k++) /* each is launched by itself */
        p->plan->kernel[k].joins = 0;
    bool ok = p && ts_plan_build(p, &e) && fill(m, p, &e) && ts_plan_run(p, &e) && ts_plan_get(p, 0, &out, &e) &&
              ts_npy_write(user, &out, &e);
    if (ok)
        check_edges(p);
    else
        printf("  %s\n", e.text);
    ts_array_free(&out), ts_plan_free(p), ts_model_free(m);
    return check_done() == 0 && ok;
}

int main(void)
{
    static const char *const order[] = {"0", "reverse", "7"};
    const int skipped = rig_cuda();
    if (skipped)
        return skipped;
    scratch folder = scratch_make();
    ts_array all[COUNT(order)] = {0};
    for (int i = 0; i < COUNT(order); i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s.npy", folder.path, order[i]);
        setenv("SIMCUDA_ORDER", order[i], 1);
        CHECK(rig_apart(run, path) && ts_npy_read(path, &all[i], &(err){0}));
        CHECK(all[i].data && !memcmp(all[i].data, all[0].data, 4 * (size_t)ts_array_count(&all[0])));
    }
    for (int i = 0; i < COUNT(order); i++)
        ts_array_free(&all[i]);
    return scratch_free(&folder), check_done();
}
