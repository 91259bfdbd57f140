/* breakdown.c - steps 1, 2, 4, 8, ... are timed by kernels: often enough in a short run, seldom in a long one.
 * Medians of each kernel are kept. */
#include "train/breakdown.h"
#include "train/files.h"

#include "bench/machine/environment.h"
#include "bench/machine/probe.h"
#include "graph/base/base.h"
#include "graph/base/formats.h"
#include "bench/machine/shares.h"
#include "graph/base/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

bool breakdown_make(breakdown *b, ts_plan *p, const ts_options *o, ts_error *e)
{
    *b = (breakdown){0};
    if (!(b->plan = ts_plan_json(p, e)))
        return false;
    ENDED_BY(js_free) cJSON *plan = js_parse(b->plan, "the plan", e);
    b->n_kernel = cJSON_GetArraySize(js_get(plan, "kernels"));
    b->threads = (int)js_get_number(plan, "threads", o->threads);
    const bool times = cJSON_IsTrue(js_get(js_get(plan, "build"), "times_kernels"));
    b->seconds = times ? heap_array((size_t)BREAKDOWN_MOST * (size_t)b->n_kernel + 1, sizeof *b->seconds) : NULL;
    return !e->code;
}

void breakdown_free(breakdown *b)
{
    ts_free(b->plan), free(b->seconds);
    *b = (breakdown){0};
}

/* Steps 1, 2, 4, 8, ...: enough of a short run, and no more than a few of a long one. */
double *breakdown_row(breakdown *b, int64_t i)
{
    const bool due = i > 0 && (i & (i - 1)) == 0;
    return b->seconds && due && b->n < BREAKDOWN_MOST ? b->seconds + (size_t)b->n * (size_t)b->n_kernel : NULL;
}

void breakdown_add(breakdown *b, double seconds)
{
    b->whole[b->n++] = seconds;
}

/* The first step brings memory and caches in; it counts where there is no other. */
static int first_of(const breakdown *b)
{
    return b->n > 1;
}

static double median_of(const breakdown *b, int k)
{
    double v[BREAKDOWN_MOST];
    int n = 0;
    for (int i = first_of(b); i < b->n; i++)
        v[n++] = b->seconds[(size_t)i * (size_t)b->n_kernel + (size_t)k];
    return stats_median(v, n);
}

static void add_kernels(cJSON *row, const breakdown *b, const cJSON *plan, const cJSON *ceilings, double parts)
{
    cJSON *list = js_array(row, "kernels");
    const cJSON *kernel;
    int k = 0;
    cJSON_ArrayForEach(kernel, js_get(plan, "kernels"))
    {
        cJSON *one = cJSON_Duplicate(kernel, true);
        static const char *const scaled[] = {"flops", "bytes", "calls"};
        for (int i = 0; i < 3; i++) {
            const double each = js_get_number(one, scaled[i], i == 2 ? 1 : NAN);
            cJSON_DeleteItemFromObjectCaseSensitive(one, scaled[i]);
            js_number(one, scaled[i], each * parts);
        }
        const double ns = 1e9 * median_of(b, k++) * parts;
        js_number(one, "median_ns", ns);
        kernel_share(one, ceilings, b->threads, js_get_text(plan, "isa"), ns);
        cJSON_AddItemToArray(list, one);
    }
}

static void add_memory(cJSON *row, const cJSON *plan)
{
    struct rusage u;
    cJSON *memory = cJSON_Duplicate(js_get(plan, "memory"), true);
    cJSON_DeleteItemFromObjectCaseSensitive(memory, "peak_bytes");
    js_number(memory, "peak_bytes", getrusage(RUSAGE_SELF, &u) == 0 ? 1024.0 * (double)u.ru_maxrss : NAN);
    cJSON_AddItemToObject(row, "memory", memory);
}

static void add_step(cJSON *list, const breakdown *b, const cJSON *plan, const cJSON *ceilings, double parts)
{
    cJSON *row = js_object(list, NULL), *launch = js_array(js_array(row, "samples"), NULL);
    js_put(row, "name:%s,status:%s", "step", "VALID");
    for (int i = first_of(b); i < b->n; i++)
        js_number(js_object(launch, NULL), "ns", round(1e9 * b->whole[i]));
    add_kernels(row, b, plan, ceilings, parts);
    add_memory(row, plan);
}

static cJSON *ceilings_of(const cJSON *plan, int threads)
{
    ts_error none = {0};
    cJSON *stated = ceilings_stated(plan);
    if (stated != NULL)
        return stated;
    ENDED_BY(heap_free) char *json = probe_json(js_get_text(plan, "isa"), threads, 1, &none);
    return json ? cJSON_Parse(json) : NULL;
}

static cJSON *step_of(const breakdown *b, const train_options *w, double parts, bool probe, const cJSON *plan)
{
    cJSON *out = cJSON_CreateObject(), *ceilings = probe ? ceilings_of(plan, b->threads) : NULL;
    js_put(out, "format:%s,tool:%s", FORMAT_STEP, "tessera " TS_VERSION);
    cJSON *model = js_object(out, "model"), *dims = js_array(model, "dims");
    js_text(model, "name", w->model);
    char dim[64];
    snprintf(dim, sizeof dim, "batch=%lld", (long long)w->batch);
    js_item(dims, dim);
    if (probe)
        cJSON_AddItemToObject(out, "environment",
                              environment_make(js_get_text(plan, "isa"), b->threads, (uint64_t)w->seed));
    add_step(js_array(out, "candidates"), b, plan, ceilings, parts);
    if (ceilings)
        cJSON_AddItemToObject(out, "ceilings", ceilings);
    js_item(js_array(out, "notes"), "one training step; some steps of the run went kernel by kernel and were timed");
    return out;
}

bool breakdown_write(const breakdown *b, const char *run, const train_options *w, int64_t parts, bool probe,
                     ts_error *e)
{
    if (!b->n)
        return true;
    ENDED_BY(js_free) cJSON *plan = js_parse(b->plan, "the plan", e);
    if (!plan)
        return false;
    ENDED_BY(js_free) cJSON *root = step_of(b, w, (double)parts, probe, plan);
    ENDED_BY(heap_free) char *s = js_to_text(root, false);
    return files_write(run, "step.json", s, strlen(s), e);
}
