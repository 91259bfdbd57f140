#include "bench/machine/shares.h"

#include "bench/machine/cpus.h"

#include <math.h>
#include <string.h>

/* The bandwidth of the innermost level that holds what the kernel moves: what it reads may have been left there by the
 * one before. A lower bound of the time, so that a share of peak is never flattered. */
static double bandwidth_for(const cJSON *ceilings, int cores, double bytes, const char **level)
{
    cache_sizes c = cpus_caches();
    const double threads = cores;
    const double holds[] = {(double)c.l2 * threads, (double)c.l3, INFINITY};
    const char *const key[] = {"l2_gbs", "l3_gbs", "read_gbs"};
    double rate = NAN;
    for (int i = 0; i < 3 && isnan(rate); i++) {
        *level = key[i];
        if (bytes <= holds[i])
            rate = js_get_number(ceilings, key[i], NAN);
    }
    return rate;
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
    js_number(row, "peak_share", ns > 0 ? best / ns : NAN);
    js_text(row, "bound", isnan(best) ? NULL : compute >= memory ? "fma" : level);
}
