/* argsort.c - the places of the elements along an axis in the order of their values, equal ones in the order of their
 * places. parameter: outer, extent, inner (elements are [outer, extent, inner]), how many places are wanted, whether
 * the order descends. NaN comes last, or, descending, first. scratch: 4 * extent numbers. */
#include <stdint.h>
#include <string.h>
#ifndef ROUTINE
#define ROUTINE
#endif

typedef struct argsort_entry {
    int64_t key, place;
} argsort_entry;

/* A number whose order as an integer is that of the element: the bits of a real, negative ones turned round. */
static int64_t argsort_key(const void *a, char type, int64_t i)
{
    double v;
    int64_t bits;
    if (type == 'l')
        return ((const int64_t *)a)[i];
    if (type == 'u') /* the highest bit turned */
        return (int64_t)(((const uint64_t *)a)[i] ^ (uint64_t)INT64_MIN);
    if (type == 'b')
        return ((const uint8_t *)a)[i];
    v = type == 'f' ? (double)((const float *)a)[i] : ((const double *)a)[i];
    if (v != v)
        return INT64_MAX;
    v += 0.0; /* -0 is 0 */
    memcpy(&bits, &v, sizeof bits);
    return bits < 0 ? bits ^ INT64_MAX : bits;
}

static void argsort_merge(const argsort_entry *a, int64_t n, const argsort_entry *b, int64_t m, argsort_entry *to)
{
    int64_t i = 0, j = 0;
    while (i < n && j < m)
        if (b[j].key < a[i].key)
            *to++ = b[j++];
        else
            *to++ = a[i++];
    for (; i < n; i++)
        *to++ = a[i];
    for (; j < m; j++)
        *to++ = b[j];
}

static argsort_entry *argsort_row(argsort_entry *from, argsort_entry *to, int64_t n)
{
    const int64_t run = 8;
    for (int64_t start = 0; start < n; start += run)
        for (int64_t i = start + 1; i < start + run && i < n; i++) {
            const argsort_entry x = from[i];
            int64_t k = i;
            for (; k > start && x.key < from[k - 1].key; k--)
                from[k] = from[k - 1];
            from[k] = x;
        }
    for (int64_t width = run; width < n; width *= 2) {
        argsort_entry *was = from;
        for (int64_t i = 0; i < n; i += 2 * width) {
            const int64_t left = n - i < width ? n - i : width, right = n - i - left < width ? n - i - left : width;
            argsort_merge(from + i, left, from + i + left, right, to + i);
        }
        from = to, to = was;
    }
    return from;
}

ROUTINE void routine_argsort(void *const *at, const char *types, const int64_t *parameter, char *scratch, long part,
                             long parts)
{
    const int64_t extent = parameter[1], inner = parameter[2], rows = parameter[0] * inner, wanted = parameter[3];
    argsort_entry *entry = (argsort_entry *)(void *)scratch;
    for (int64_t row = rows * part / parts; row < rows * (part + 1) / parts; row++) {
        const int64_t outer = row / inner, in = row % inner;
        int64_t *to = (int64_t *)at[1] + outer * wanted * inner + in;
        for (int64_t i = 0; i < extent; i++) {
            const int64_t key = argsort_key(at[0], types[0], (outer * extent + i) * inner + in);
            entry[i].key = parameter[4] ? ~key : key, entry[i].place = i;
        }
        const argsort_entry *sorted = argsort_row(entry, entry + extent, extent);
        for (int64_t i = 0; i < wanted; i++)
            to[i * inner] = sorted[i].place;
    }
}
