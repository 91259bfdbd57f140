/* nms.c - boxes kept of each class, best first: the one with the largest score, then each that overlaps none of those
 * kept by more than a share of their union. at: boxes [batch, n, 4], scores [batch, class, n], limits [2] (share, and a
 * score to be exceeded), kept [batch, class, most]: numbers of boxes, then -1. parameter: batches, classes, n, most,
 * whether boxes are centre and size (x y w h), else two corners (y x y x). scratch: n bytes. */
#include <stdint.h>
#ifndef ROUTINE
#define ROUTINE
#endif

static float nms_value(const void *a, char type, int64_t i)
{
    return type == 'f' ? ((const float *)a)[i] : (float)((const double *)a)[i];
}

static void nms_box(const void *boxes, char type, int64_t i, int centred,
                    float box[4]) /* low, high in two directions */
{
    float v[4];
    for (int k = 0; k < 4; k++)
        v[k] = nms_value(boxes, type, 4 * i + k);
    for (int k = 0; k < 2; k++) {
        const float a = centred ? v[k] - v[k + 2] / 2 : v[k], b = centred ? v[k] + v[k + 2] / 2 : v[k + 2];
        box[2 * k] = a < b ? a : b, box[2 * k + 1] = a < b ? b : a;
    }
}

static int nms_overlaps(const float *a, const float *b, float share)
{
    float inner[2], area = 1, both = 1, other = 1;
    for (int k = 0; k < 2; k++) {
        const float low = a[2 * k] > b[2 * k] ? a[2 * k] : b[2 * k];
        const float high = a[2 * k + 1] < b[2 * k + 1] ? a[2 * k + 1] : b[2 * k + 1];
        inner[k] = high > low ? high - low : 0;
        both *= inner[k], area *= a[2 * k + 1] - a[2 * k], other *= b[2 * k + 1] - b[2 * k];
    }
    return area > 0 && other > 0 && both > 0 && both / (area + other - both) > share;
}

ROUTINE void routine_nms(void *const *at, const char *types, const int64_t *parameter, char *scratch, long part,
                         long parts)
{
    const int64_t rows = parameter[0] * parameter[1], n = parameter[2], most = parameter[3];
    const float share = nms_value(at[2], types[2], 0), above = nms_value(at[2], types[2], 1);
    for (int64_t row = rows * part / parts; row < rows * (part + 1) / parts; row++) {
        int64_t *kept = (int64_t *)at[3] + row * most, n_kept = 0;
        const int64_t first = row / parameter[1] * n;
        for (int64_t i = 0; i < n; i++)
            scratch[i] = nms_value(at[1], types[1], row * n + i) > above;
        while (n_kept < most) {
            int64_t best = -1;
            float box[4], other[4];
            for (int64_t i = 0; i < n; i++)
                if (scratch[i] &&
                    (best < 0 || nms_value(at[1], types[1], row * n + i) > nms_value(at[1], types[1], row * n + best)))
                    best = i;
            if (best < 0)
                break;
            scratch[best] = 0;
            nms_box(at[0], types[0], first + best, (int)parameter[4], box);
            int free = 1;
            for (int64_t k = 0; free && k < n_kept; k++) {
                nms_box(at[0], types[0], first + kept[k], (int)parameter[4], other);
                free = !nms_overlaps(box, other, share);
            }
            if (free)
                kept[n_kept++] = best;
        }
        while (n_kept < most)
            kept[n_kept++] = -1;
    }
}
