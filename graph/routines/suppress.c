/* suppress.c - greedy selection of boxes that do not overlap much: at[0] boxes [batch, n, 4], at[1] scores
 * [batch, classes, n], at[2] the order in which boxes of a class are looked at, at[3] the overlap and the score that
 * are the limits, at[4] the result: boxes chosen, in order, then -1. param: batch, classes, n, most, whether a box is
 * given by centre and extents instead of two corners. */
#include <stdint.h>
#ifndef ROUTINE
#define ROUTINE
#endif

typedef struct suppress_box {
    double low[2], high[2];
} suppress_box;

static double suppress_number(const void *a, char type, int64_t i)
{
    return type == 'f' ? (double)((const float *)a)[i] : ((const double *)a)[i];
}

static suppress_box suppress_read(const void *a, char type, int64_t at, int64_t centred)
{
    suppress_box b;
    for (int k = 0; k < 2; k++) {
        const double p = suppress_number(a, type, 4 * at + k), q = suppress_number(a, type, 4 * at + 2 + k);
        b.low[k] = centred ? p - q / 2 : p < q ? p : q;
        b.high[k] = centred ? p + q / 2 : p < q ? q : p;
    }
    return b;
}

static double suppress_area(const suppress_box *b)
{
    return (b->high[0] - b->low[0]) * (b->high[1] - b->low[1]);
}

static double suppress_overlap(const suppress_box *a, const suppress_box *b) /* intersection over union */
{
    double inner = 1;
    for (int k = 0; k < 2; k++) {
        const double low = a->low[k] > b->low[k] ? a->low[k] : b->low[k];
        const double high = a->high[k] < b->high[k] ? a->high[k] : b->high[k];
        inner *= high > low ? high - low : 0;
    }
    const double all = suppress_area(a) + suppress_area(b) - inner;
    return inner > 0 && all > 0 ? inner / all : 0;
}

ROUTINE void routine_suppress(void *const *at, const char *types, const int64_t *param, char *scratch, long part,
                              long parts)
{
    const int64_t classes = param[1], n = param[2], most = param[3], rows = param[0] * classes;
    const double overlap = suppress_number(at[3], types[3], 0), score = suppress_number(at[3], types[3], 1);
    (void)scratch;
    for (int64_t row = rows * part / parts; row < rows * (part + 1) / parts; row++) {
        const int64_t first = row / classes * n, *order = (const int64_t *)at[2] + row * n;
        int64_t *to = (int64_t *)at[4] + row * most, found = 0;
        for (int64_t i = 0; i < n && found < most; i++) {
            const suppress_box box = suppress_read(at[0], types[0], first + order[i], param[4]);
            int keep = suppress_number(at[1], types[1], row * n + order[i]) >= score;
            for (int64_t k = 0; keep && k < found; k++) {
                const suppress_box taken = suppress_read(at[0], types[0], first + to[k], param[4]);
                keep = suppress_overlap(&box, &taken) <= overlap;
            }
            if (keep)
                to[found++] = order[i];
        }
        while (found < most)
            to[found++] = -1;
    }
}
