/* box.h - slices that a device brings by itself: boxes of a tensor as it lies in memory, of which a map tells. The
 * tensor has a dimension for each sum of axes that moves the operand's place by steps of its own; what a box has
 * outside of it comes as zeros, as padding does, and what axes do not have of whole trips of a matrix unit. A box is a
 * plain value, a reason constant text; the plan is only read. */
#pragma once
#include "schedule/nest/slice.h"

enum { BOX_DIMS = 5 };
typedef struct box_dim {
    int64_t extent, stride;   /* of the tensor: elements; bytes from one to the next, of the first one its size */
    int64_t count;            /* that a box has */
    int64_t by[MAX_AXIS], at; /* where it begins: the stage's axes, times so many each, + at */
} box_dim;
typedef struct box {
    int64_t n; /* dimensions, neighbours first */
    box_dim dim[BOX_DIMS];
    int64_t first; /* bytes from where the operand lies to where the tensor begins */
    int size, row; /* bytes of an element; of rows whose pieces are swizzled, 0: they are not */
    /* Boxes that make up the slice, the next one's neighbours behind those of the one before; bytes from one to the
     * next in the slice, and of all */
    int64_t pieces, apart, bytes;
} box;
/* Why the slices that g copies are no boxes; NULL: they are, and *out says which. */
const char *box_find(const plan *p, const kernel *k, const stage *s, const staging *g, box *out);
/* The same, of slices of a matrix unit that several warps share before there are loops: it walks axis `own` of the load
 * and the folded one. */
const char *box_may(const plan *p, const kernel *k, const stage *s, int load, int own, int folded);
int box_barriers(const plan *p, const kernel *k, const stage *s, int l); /* bytes for those of the ring at loop l */
