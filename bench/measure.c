/* measure.c - least, greatest and mean of arrays of any dtype. */
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
