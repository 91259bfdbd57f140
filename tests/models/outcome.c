#include "tests/models/outcome.h"

#include <math.h>
#include <string.h>

void arrays_free(arrays *a)
{
    for (int i = 0; i < a->n; i++)
        ts_array_free(&a->at[i]);
    a->n = 0;
}

arrays outcome_inputs(const ts_model *m, uint64_t seed)
{
    arrays in = {0};
    ts_port p;
    for (; in.n < RIG_RESULTS && ts_model_input(m, in.n, &p); in.n++) {
        MUST(ts_array_make(&in.at[in.n], p.dtype, p.rank, p.dim, NULL));
        ts_array_random(&in.at[in.n], seed + (uint64_t)in.n, p.below);
    }
    return in;
}

bool outcome_run(ts_model *m, const char *target, const arrays *in, arrays *out, ts_error *e)
{
    ts_plan *p = ts_plan_make(m, &(ts_options){.target = target, .threads = 2}, e);
    bool ok = p && ts_plan_build(p, e);
    for (int i = 0; ok && i < in->n; i++)
        ok = ts_plan_set(p, i, &in->at[i], e);
    ok = ok && ts_plan_run(p, e);
    for (out->n = 0; ok && out->n < ts_model_outputs(m); out->n += ok)
        ok = ts_plan_get(p, out->n, &out->at[out->n], e);
    ts_plan_free(p);
    return ok;
}

double outcome_distance(const ts_array *a, const ts_array *b)
{
    double off = 0, largest = 0;
    if (a->rank != b->rank || memcmp(a->dim, b->dim, (size_t)a->rank * sizeof *a->dim))
        return INFINITY;
    for (int64_t i = 0; i < ts_array_count(a); i++) {
        const double x = ts_array_at(a, i), y = ts_array_at(b, i);
        if (!isfinite(x) || !isfinite(y))
            return INFINITY;
        off = fmax(off, fabs(x - y)), largest = fmax(largest, fabs(y));
    }
    return largest > 0 ? off / largest : off;
}
