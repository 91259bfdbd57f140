/* measure.c - least, greatest and mean of arrays of any dtype, and their differences. */
#include "bench/measure.h"

#include <math.h>

measure measure_array(const ts_array *a)
{
    measure m = {.count = ts_array_count(a), .min = NAN, .max = NAN, .mean = NAN};
    double sum = 0;
    for (int64_t i = 0; i < m.count; i++) {
        double v = ts_array_at(a, i);
        if (!isfinite(v)) {
            m.bad++;
            continue;
        }
        sum += v;
        m.min = v < m.min || isnan(m.min) ? v : m.min;
        m.max = v > m.max || isnan(m.max) ? v : m.max;
    }
    if (m.count > m.bad)
        m.mean = sum / (double)(m.count - m.bad);
    return m;
}

double off_by(double got, double want)
{
    if (got == want || (isnan(got) && isnan(want)))
        return 0; /* equal infinities, too */
    const double d = fabs(got - want);
    return isnan(d) ? INFINITY : d;
}

apart array_apart(const ts_array *got, const ts_array *want)
{
    apart a = {0};
    for (int64_t k = 0, n = ts_array_count(want); k < n; k++) {
        const double w = ts_array_at(want, k), d = off_by(ts_array_at(got, k), w);
        if (d > a.most)
            a.most = d, a.worst = k;
        if (isfinite(w))
            a.scale = fmax(a.scale, fabs(w));
    }
    return a;
}
