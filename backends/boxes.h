/* boxes.h - values of which a run says the extents: between where they lie at the largest and where they lie dense.
 * Both are row-major and the caller's, and do not overlap; nothing is kept and nothing fails. Emitted programs carry
 * this file. */
#ifndef BOXES_H
#define BOXES_H
#include <string.h>

/* Of an array of extents all[rank], the elements within box[rank], box[d] <= all[d]. whole: product of all[] elements
 * of `bytes` each; dense: product of box[] of them, as many as go; out: to dense, else from there. rank 0: one. */
static inline void box_copy(char *whole, char *dense, int rank, const long *all, const long *box, long bytes, int out)
{
    int outer = rank; /* dimensions outside of what lies in one piece */
    long run = bytes, rows = 1, inner = bytes;
    while (outer > 0 && (outer == rank || box[outer] == all[outer]))
        run *= box[--outer], inner *= all[outer];
    for (int d = 0; d < outer; d++)
        rows *= box[d];
    for (long row = 0; row < rows; row++, dense += run) {
        long from = 0, rest = row, stride = inner;
        for (int d = outer - 1; d >= 0; stride *= all[d--])
            from += rest % box[d] * stride, rest /= box[d];
        memcpy(out ? dense : whole + from, out ? whole + from : dense, (size_t)run);
    }
}
#endif
