/* slice.h - how what a copy (+operand) holds lies in its space: back ends that copy, and every figure of it, ask
 * here. A slice is a plain value; plan and kernel are only read. */
#pragma once
#include "schedule/plan/plan.h"

typedef struct slice {
    int n, order[MAX_AXIS];                     /* axes that it has, from outside in: as the loops within walk them */
    int64_t extent[MAX_AXIS], stride[MAX_AXIS]; /* by axis: what is left of it there; neighbours in elements */
    int64_t size;                               /* elements, gaps included */
    bool whole; /* it has whole trips of a matrix unit: zeros are what the axes do not have of them */
    /* Element p lies at p ^ ((p >> shift & mask) * piece): pieces of 16 bytes change places, so that those of
     * neighbouring rows, which are read at once, lie in different banks. mask 0: where p says */
    int shift, mask, piece;
    /* Along the innermost axis so many elements are neighbours; the next so many begin `apart` elements behind these;
     * 0: all are neighbours */
    int64_t block, apart;
    int multiple; /* of so many bytes it begins; 0: the target's */
} slice;
/* g copies. A vector's axis comes last. Where a group copies together what lies the other way round in memory, rows
 * have a gap behind them: neighbouring lanes then write to different banks. */
void slice_find(const plan *p, const kernel *k, const stage *s, const staging *g, slice *out);
/* Where what would lie at p does */
int64_t slice_swizzled(int64_t p, int shift, int mask, int piece);
