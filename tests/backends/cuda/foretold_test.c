/* ctest: large timeout=900
 * What explain says of the kernels of built-in models against what the stand-in counts: sectors of global memory and
 * passes over the banks of shared memory, kernel by kernel. */
#include "backends/cuda/program.h"
#include "backends/driver.h"
#include "backends/gpu/figures.h"
#include "graph/base/js.h"
#include "schedule/nest.h"
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

/* Of images as small as these most is border: there only some lanes of a warp read. */
static const double NEAR = 0.1, BORDER = 2.5;

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

static void foretell(const plan *p, const cuda_texts *t, total *all)
{
    for (int i = 0; i < p->n_kernel; i++) {
        gpu_figures f;
        total *q = &all[t->unit_of[i]];
        if (!q->n++)
            q->k = &p->kernel[i], q->known = true;
        q->known = q->known && stage_nested(p->kernel[i].stage);
        if (!stage_nested(p->kernel[i].stage))
            continue;
        gpu_figures_find(p, &p->kernel[i], &f);
        q->sectors += f.groups * f.moved / SECTOR, q->passes += f.groups * f.banks;
    }
}

static bool padded(const kernel *k)
{
    bool any = false;
    for (int i = 0; i < k->n_stage; i++)
        for (int j = 0; j < k->stage[i].n_load; j++)
            any = any || stage_guard(&k->stage[i], j);
    return any;
}

static bool near(double said, double found, bool border)
{
    return border ? said >= found / BORDER && said <= found * BORDER : fabs(said - found) <= NEAR * found;
}

static int compare(const plan *p, const cuda_texts *t, const char *counts, const char *what)
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
        while (u < t->n_unit && strcmp(t->unit[u].name, js_get_text(row, "kernel")))
            u++;
        if (u < t->n_unit && all[u].known) {
            const double sectors = js_get_number(row, "read_sectors", 0) + js_get_number(row, "write_sectors", 0),
                         passes = js_get_number(row, "passes", 0);
            const bool border = padded(all[u].k);
            text loops = {0};
            nest_print(&loops, all[u].k, true);
            if (!CHECK(near(all[u].sectors, sectors, border) && near(all[u].passes, passes, border)))
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

static void try_model(const char *model, const char *dims, const char *counts)
{
    err e = {0};
    cuda_texts t = {0};
    ts_model *m = rig_model(model, dims, &e);
    ts_plan *p = m ? ts_plan_make(m, &(ts_options){.target = "cuda", .threads = 1}, &e) : NULL;
    if (CHECK(p && cuda_write(p->plan, &t, &e)) && CHECK(rig_apart(run, p)))
        CHECK(compare(p->plan, &t, counts, model) > 0);
    else
        printf("  %s: %s\n", model, e.text);
    cuda_texts_free(&t), ts_plan_free(p), ts_model_free(m);
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
    const int skipped = rig_begin();
    if (skipped)
        return skipped;
    char counts[200];
    scratch s = scratch_make();
    snprintf(counts, sizeof counts, "%s/counts", s.path);
    setenv("SIMCUDA_COUNTS", counts, 1);
    for (int i = 0; i < COUNT(rows); i++)
        try_model(rows[i][0], rows[i][1], counts);
    scratch_remove(&s);
    return check_done();
}
