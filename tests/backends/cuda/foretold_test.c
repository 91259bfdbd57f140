/* ctest: large timeout=900 O3
 * What explain says of the kernels of built-in models against what the stand-in counts: sectors of global memory and
 * passes over the banks of shared memory, kernel by kernel. */
#include "backends/cuda/program.h"
#include "backends/driver.h"
#include "backends/gpu/figures.h"
#include "graph/base/js.h"
#include "schedule/nest/nest.h"
#include "tests/backends/cuda/rig.h"
#include "tests/check.h"
#include "tests/models/rig.h"
#include "tests/scratch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct total { /* of all launches of one unit */
    const kernel *k;
    bool known; /* all its kernels have figures */
    int n;
    double sectors, passes;
} total;

static const double NEAR = 0.1;

static bool run(void *user)
{
    ts_plan *p = user;
    err e = {0};
    bool ok = true;
    for (int i = 0; ok && i < p->n_port; i++) {
        const node *n = p->input_of[i] < 0 ? NULL : p->plan->input[p->input_of[i]];
        ts_array a = {0};
        ok = !n || (ts_array_make(&a, n->type.dtype, n->type.rank, n->type.dim, &e) && ts_plan_set(p, i, &a, &e));
        ts_array_free(&a);
    }
    ok = ok && ts_plan_run(p, &e);
    if (!ok)
        printf("  %s\n", e.text);
    return ok;
}

static void foretell(const plan *p, const device_texts *t, total *all)
{
    for (int i = 0; i < p->n_kernel; i++) {
        gpu_figures f;
        total *q = &all[t->unit_of[i]];
        if (!q->n++)
            q->k = &p->kernel[i], q->known = true;
        q->known = q->known && stage_nested(p->kernel[i].stage);
        if (!stage_nested(p->kernel[i].stage))
            continue;
        footprint bytes = {0};
        gpu_figures_find(p, &p->kernel[i], &f, &bytes), footprint_free(&bytes);
        q->sectors += f.groups * f.moved / SECTOR, q->passes += f.groups * f.banks;
    }
}

static bool near(double said, double found)
{
    return fabs(said - found) <= NEAR * found;
}

static int compare(const plan *p, const device_texts *t, const char *counts, const char *what)
{
    char line[1024];
    int compared = 0;
    total *all = calloc((size_t)t->n_unit + 1, sizeof *all);
    FILE *f = fopen(counts, "r");
    MUST(all && f);
    foretell(p, t, all);
    while (fgets(line, sizeof line, f)) {
        cJSON *row = cJSON_Parse(line);
        int u = 0;
        while (u < t->n_unit && strcmp(device_unit(t, u)->name, js_get_text(row, "kernel")))
            u++;
        if (u < t->n_unit && all[u].known) {
            const double sectors = js_get_number(row, "read_sectors", 0) + js_get_number(row, "write_sectors", 0),
                         passes = js_get_number(row, "passes", 0);
            text loops = {0};
            nest_print(&loops, all[u].k, true);
            if (!CHECK(near(all[u].sectors, sectors) && near(all[u].passes, passes)))
                printf("  %s, %s, %d times: %.0f sectors, counted %.0f; %.0f passes, counted %.0f\n    %s\n", what,
                       all[u].k->op, all[u].n, all[u].sectors, sectors, all[u].passes, passes, text_str(&loops));
            text_free(&loops);
            compared++;
        }
        cJSON_Delete(row);
    }
    fclose(f), free(all);
    return compared;
}

static void try_plan(ts_plan *p, const char *counts, const char *what)
{
    err e = {0};
    device_texts t = {0};
    for (int k = 0; p && k < p->plan->n_kernel; k++) /* what is foretold is of each kernel alone */
        p->plan->kernel[k].joins = 0;
    if (CHECK(p && cuda_write(p->plan, &t, &e)) && CHECK(rig_apart(run, p)))
        CHECK(compare(p->plan, &t, counts, what) > 0);
    else
        printf("  %s: %s\n", what, e.text);
    device_texts_free(&t), ts_plan_free(p);
}

/* A sum of products of rows and columns that no block divides, and what it is a gradient of */
static void try_products(const char *counts)
{
    enum { ROOTS = 3 };
    static const int64_t size[][3] = {{37, 70, 50}, {33, 129, 65}, {130, 9, 3}};
    for (int i = 0; i < COUNT(size); i++) {
        char what[64];
        err e = {0};
        ts_graph *g = ts_graph_make();
        const int64_t m = size[i][0], k = size[i][1], n = size[i][2];
        const ts_tensor in[] = {ts_input(g, "a", TS_F32, 2, (int64_t[]){m, k}),
                                ts_input(g, "b", TS_F32, 2, (int64_t[]){k, n})},
                        y = ts_call2(g, "matmul", in[0], in[1]);
        ts_tensor root[ROOTS] = {ts_call1(g, "sum", ts_call2(g, "multiply", y, y))};
        snprintf(what, sizeof what, "%lld x %lld x %lld", (long long)m, (long long)k, (long long)n);
        CHECK(ts_chain_rule(g, 1, root, NULL, 2, in, root + 1));
        try_plan(ts_plan_of(g, ROOTS, root, 0, NULL, &(ts_options){.target = "cuda", .threads = 1}, &e), counts, what);
        ts_graph_free(g);
    }
}

/* The model's results, and gradients of the sum of their squares by all weights and inputs that have some */
static void try_gradients(const char *model, const char *dims, const char *counts)
{
    enum { MOST = 200 };
    err e = {0};
    int n, n_in = 0;
    ts_tensor in[MOST], root[MOST + 1];
    ts_model *m = rig_model(model, dims, &e);
    if (!CHECK(m))
        return;
    ts_graph *g = ts_model_graph(m);
    const node **all = rig_nodes(m, &n);
    const ts_tensor y = ts_model_tensor(m, 0);
    for (int i = 0; i < n && n_in < MOST; i++)
        if (all[i]->leaf && all[i]->type.dtype == TS_F32)
            in[n_in++] = all[i];
    root[0] = ts_call1(g, "sum", ts_call2(g, "multiply", y, y));
    CHECK(ts_chain_rule(g, 1, root, NULL, n_in, in, root + 1));
    try_plan(ts_plan_of(g, n_in + 1, root, 0, NULL, &(ts_options){.target = "cuda", .threads = 1}, &e), counts, model);
    free(all), ts_model_free(m);
}

static void try_model(const char *model, const char *dims, const char *counts)
{
    err e = {0};
    ts_model *m = rig_model(model, dims, &e);
    if (CHECK(m))
        try_plan(ts_plan_make(m, &(ts_options){.target = "cuda", .threads = 1}, &e), counts, model);
    ts_model_free(m);
}

int main(void)
{
    static const char *const rows[][2] = {{"bert-tiny", "batch=1 seq=128"},
                                          {"bert-tiny", "batch=3 seq=21"},
                                          {"gpt2-tiny", "batch=1 seq=128 past=0"},
                                          {"gpt2-tiny", "batch=1 seq=1 past=31"},
                                          {"resnet-tiny", "batch=1 size=32"}};
    setenv("SIMCUDA_CHECK", "none", 1);
    setenv("SIMCUDA_SM", "90", 1), setenv("SIMCUDA_SM_COUNT", "132", 1);
    const int skipped = rig_cuda();
    if (skipped)
        return skipped;
    char counts[200];
    scratch s = scratch_make();
    snprintf(counts, sizeof counts, "%s/counts", s.path);
    setenv("SIMCUDA_COUNTS", counts, 1);
    for (int i = 0; i < COUNT(rows); i++)
        try_model(rows[i][0], rows[i][1], counts);
    try_gradients("resnet-tiny", "batch=2 size=20", counts);
    try_products(counts);
    scratch_free(&s);
    return check_done();
}
