/* shares.c - a kernel's rate against the peak of its type, and its bytes a second against the bandwidth of the
 * innermost level that holds them. */
#include "bench/machine/shares.h"

#include "backends/probe/cpus.h"

#include <math.h>
#include <string.h>

/* The bandwidth of the innermost level that holds what the kernel moves: what it reads may have been left there by the
 * one before. A lower bound of the time, so that a share of peak is never flattered. */
static double bandwidth_for(const cJSON *ceilings, int cores, double bytes, const char **level)
{
    cache_sizes c = cpus_caches();
    const double threads = cores, stated = js_get_number(ceilings, "l2_bytes", NAN);
    const double holds[] = {isnan(stated) ? (double)c.l2 * threads : stated, isnan(stated) ? (double)c.l3 : 0,
                            INFINITY};
    const char *const key[] = {"l2_gbs", "l3_gbs", "read_gbs"};
    double rate = NAN;
    for (int i = 0; i < 3 && isnan(rate); i++) {
        *level = key[i];
        if (bytes <= holds[i])
            rate = js_get_number(ceilings, key[i], NAN);
    }
    return rate;
}

cJSON *ceilings_stated(const cJSON *plan)
{
    const cJSON *peak = js_get(plan, "peak"), *level;
    const double gflops = js_get_number(peak, "f32_gflops", NAN);
    if (!peak)
        return NULL;
    cJSON *out = cJSON_CreateObject(), *levels, *unit;
    js_put(out, "isa:%s,threads:%g,stated:%i,fma_f32_gflops:%g", js_get_text(plan, "isa"),
           js_get_number(plan, "threads", NAN), true, gflops);
    levels = js_array(out, "levels");
    cJSON_ArrayForEach(level, js_get(peak, "levels"))
    {
        const char *name = js_get_text(level, "name");
        const bool last = level->next == NULL;
        const char *const key = last ? "read_gbs" : strcmp(name, "L2") == 0 ? "l2_gbs" : "l1_gbs";
        js_row(levels, "name:%s,bytes_per_thread:%g,gbs:%g", key, NAN, js_get_number(level, "gbs", NAN));
        js_number(out, key, js_get_number(level, "gbs", NAN));
        if (strcmp(key, "l2_gbs") == 0)
            js_number(out, "l2_bytes", js_get_number(level, "bytes", NAN));
    }
    unit = js_object(js_array(out, "units"), NULL);
    js_put(unit, "isa:%s,dtype:%s,gflops:%g,one_thread_gflops:%g", js_get_text(plan, "isa"), "f32", gflops, NAN);
    return out;
}

void kernel_share(cJSON *row, const cJSON *ceilings, int threads, const char *isa, double ns)
{
    double flops = js_get_number(row, "flops", 0), bytes = js_get_number(row, "bytes", 0), peak = NAN, best = 0;
    const char *dtype = js_get_text(row, "dtype"), *level = "";
    const cJSON *unit;
    cJSON_ArrayForEach(unit, js_get(ceilings, "units"))
    {
        if (strcmp(js_get_text(unit, "isa"), isa) == 0 &&
            strcmp(js_get_text(unit, "dtype"), strcmp(dtype, "f64") == 0 ? "f64" : "f32") == 0)
            peak = js_get_number(unit, "gflops", NAN);
    }
    const double compute = flops / peak, memory = bytes / bandwidth_for(ceilings, threads, bytes, &level); /* FLOP/ns */
    best = fmax(compute, memory);
    js_put(row, "peak_share:%g,bound:%s", ns > 0 ? best / ns : NAN,
           isnan(best)         ? NULL
           : compute >= memory ? "fma"
                               : level);
}
