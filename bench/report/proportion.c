/* proportion.c - that no part of a difference is said to be more than all of it. */
#include "bench/report/proportion.h"

#include "graph/base/js.h"

#include <math.h>

static const double USUAL = 1.05; /* of a pass: caches are colder where kernels are timed one by one */

double kernels_scale(const cJSON *candidate)
{
    const double pass = js_get_number(candidate, "stats/median_ns", NAN);
    double sum = 0;
    const cJSON *k;
    cJSON_ArrayForEach(k, js_get(candidate, "kernels"))
    {
        const double ns = js_get_number(k, "median_ns", NAN);
        sum += ns > 0 && isfinite(ns) ? ns : 0;
    }
    return pass > 0 && isfinite(pass) && sum > USUAL * pass ? pass / sum : 1;
}
