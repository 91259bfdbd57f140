/* guess_parts.h - shared by the files that guess loops for a graphics processor: how loops are dealt to groups and
 * lanes, and products of matrices, which go first.
 *
 * A deal only reads the plan; it is a plain value on the caller's stack. left = lanes * each * trips of the loops
 * around, rounded up, for every axis. */
#pragma once
#include "backends/gpu/guess.h"

/* dealt: what a group does at once, axis by axis: lanes times each of what is left of it; the rest are trips of loops
 * around, which go to other groups where no other stage has to wait for them. */
typedef struct dealt {
    const plan *p;
    const kernel *k;
    const stage *s;
    int64_t left[MAX_AXIS], lanes[MAX_AXIS], each[MAX_AXIS];
    int64_t cut[MAX_AXIS];  /* of a folded axis, 0 or steps in which it is walked around the lanes' */
    int64_t part[MAX_AXIS]; /* of a folded axis, 0 or steps that go to different groups */
    int order[MAX_AXIS];    /* of folded axes, from outside in: order[n_result] .. order[n_axis - 1] */
    int fast;               /* the axis along which neighbouring lanes have neighbours in memory, or -1 */
    bool vector;            /* each lane has a run of the fast axis, moved at once; else its elements lie lanes apart */
    int staged_at;          /* the folded axis at whose cut slices are copied, or GPU_AROUND: all of them */
    int staged[2];          /* operands of which slices are; -1: none */
} dealt;
enum { GPU_AROUND = -1 };
void gpu_deal_begin(dealt *d, const plan *p, const kernel *k,
                    const stage *s); /* everything one lane's, one at a time */
/* Lanes to axes from the inside out, of those that are in `axes`; what is not given away comes back. */
int64_t gpu_deal(dealt *d, uint32_t axes, int64_t lanes);
void gpu_put(const dealt *d, nesting *b);         /* the loops */
int64_t gpu_steps(const dealt *d, uint32_t axes); /* of what is left of them, all together */

int64_t gpu_plain_room(const plan *p); /* bytes of shared memory that groups have without asking: more cost company */
int64_t gpu_lanes(const plan *p, const kernel *k); /* that the groups of a kernel have */
/* guess_split.c: what it costs, in cycles, that so many parts of a sum wait in memory for a kernel that adds them up;
 * results: how many there are, bytes: of one. */
double gpu_merge_cycles(const plan *p, double results, int64_t bytes, int64_t parts);
bool gpu_may_split(const plan *p, const kernel *k, const stage *s); /* whether a sum may be in parts at all */
/* Of a fold that reads everything once: cuts its longest axis into parts where groups are few. */
void gpu_split(dealt *d);

/* product: y[m,n] = sum over k of a[m,k] b[k,n], m, n and k being several axes each. */
typedef struct product {
    const plan *p;
    const kernel *k;
    const stage *s;
    int load[2];            /* of the stage: a, whose axes give rows, and b, which has the columns */
    uint32_t rows, columns; /* axes that one of them has and the other has not */
    int column;             /* the innermost of columns */
    dealt none;             /* nothing dealt yet */
    bool staged[2];         /* whether slices of it wait in shared memory */
    int64_t bytes,
        lanes; /* of shared memory, for slices; lanes of the group, at most; in a kernel of several exactly */
} product;
/* Whether the stage is one; fills it in */
bool gpu_product_find(product *c, const plan *p, const kernel *k, const stage *s);
/* guess_matrix.c: by a matrix unit, where there is one for it */
bool gpu_guess_matrix(const product *c, nesting *b, text *second);
const char *gpu_no_unit(const product *c); /* why there is none, or it cannot form the product; NULL: it can */
/* guess_product.c: true where a register tile of rows and columns serves the stage; its loops are then in out. */
bool gpu_guess_product(const plan *p, const kernel *k, const stage *s, nesting *b, text *second);
/* The loops that came next, with both costs */
void gpu_second(text *out, const nesting *next, double after, double fewest);
