/* rows.c - the places of rows in the order of their values, the first elements counting most, equal rows in the order
 * of their places. parameter: rows, elements of each. NaN comes last. scratch: 16 * rows bytes. */
#include <stdint.h>
#include <string.h>
#ifndef ROUTINE
#define ROUTINE
#endif

/* Below 0, 0 or above it, as a stands to b. */
static int rows_compare(const void *all, char type, int64_t a, int64_t b)
{
    if (type == 'l') {
        const int64_t x = ((const int64_t *)all)[a], y = ((const int64_t *)all)[b];
        return (x > y) - (x < y);
    }
    if (type == 'u') {
        const uint64_t x = ((const uint64_t *)all)[a], y = ((const uint64_t *)all)[b];
        return (x > y) - (x < y);
    }
    if (type == 'b')
        return (int)((const uint8_t *)all)[a] - (int)((const uint8_t *)all)[b];
    const double x = type == 'f' ? (double)((const float *)all)[a] : ((const double *)all)[a];
    const double y = type == 'f' ? (double)((const float *)all)[b] : ((const double *)all)[b];
    return x != x || y != y ? (x != x) - (y != y) : (x > y) - (x < y);
}

static int rows_order(const void *all, char type, int64_t n, int64_t a, int64_t b)
{
    for (int64_t i = 0; i < n; i++) {
        const int c = rows_compare(all, type, a * n + i, b * n + i);
        if (c)
            return c;
    }
    return 0;
}

ROUTINE void routine_rows(void *const *at, const char *types, const int64_t *parameter, char *scratch, long part,
                          long parts)
{
    const int64_t rows = parameter[0], n = parameter[1];
    int64_t *from = (int64_t *)(void *)scratch, *to = from + rows;
    if (part) /* one order, one part */
        return;
    (void)parts;
    for (int64_t i = 0; i < rows; i++)
        from[i] = i;
    for (int64_t width = 1; width < rows; width *= 2) {
        int64_t *was = from;
        for (int64_t start = 0; start < rows; start += 2 * width) {
            const int64_t middle = rows - start < width ? rows : start + width;
            const int64_t end = rows - middle < width ? rows : middle + width;
            int64_t i = start, j = middle, k = start;
            while (i < middle && j < end)
                to[k++] = rows_order(at[0], types[0], n, from[j], from[i]) < 0 ? from[j++] : from[i++];
            while (i < middle)
                to[k++] = from[i++];
            while (j < end)
                to[k++] = from[j++];
        }
        from = to, to = was;
    }
    memcpy(at[1], from, (size_t)rows * sizeof *from);
}
