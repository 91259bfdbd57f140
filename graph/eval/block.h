/* block.h - the values of expressions for a block of neighbouring results at once: one dispatch per part and block.
 * Element by element it computes what the expression says, in its order: reals in double, integers as integers,
 * conditions before what they guard. A block owns its lanes until block_fini and borrows the rest.
 * The room:  eval: nodes -> block: expressions -> contraction: sums of products */
#pragma once
#include "graph/eval/eval.h"
#include "graph/ir/graph.h"

enum { LANES = 256 }; /* elements at a time; their f64 fill 2 KiB */
typedef union value {
    double d;
    int64_t i;
} value;
typedef struct vec { /* one value per lane; same: v[0] is that of all */
    bool same;
    struct vec *next; /* while it is spare */
    value v[LANES];
} vec;
typedef struct block {
    const node *n;
    const ts_array *const *in;
    const int64_t *extent;
    const eval_parts *parts;    /* NULL: folds go through their points in order */
    bool wide;                  /* casts do not round reals */
    err *e;                     /* the first failure */
    int64_t axis[MAX_AXIS];     /* where lane 0 is */
    value state[2 * MAX_STATE]; /* of a scan; of a merge, those of both parts */
    int lanes;                  /* in use */
    uint32_t varying;           /* axes that differ between lanes */
    vec *lane[MAX_AXIS];        /* their values; owned */
    vec *spare;                 /* owned */
    struct contraction *inner;  /* owned; of the definition's fold, when it is one */
} block;

void block_free(block *b);
value block_value(block *b, const expr *x); /* where axis[] and state[] are */
/* Those of all results, row-major, handed on a block at a time: n of them from the result `at` on. */
typedef struct block_sink {
    void (*take)(struct block_sink *s, int64_t at, const value *v, int n);
} block_sink;
void block_values(block *b, const expr *x, block_sink *to);
value block_rounded(dtype d, value a); /* what storing and loading back gives; f32 stays in double until stored */
bool block_outside(block *b, int64_t s, int64_t dim, int axis); /* then sets the error */

/* For parts of an evaluation. active: lanes whose value is wanted, at least one; NULL: all. */
void block_eval(block *b, const expr *x, const vec *active, vec *out);
/* Where a load reads, as an element of the whole array, counting only the dimensions in the set dims; 0 where not
 * active. */
void block_place(block *b, const expr *load, uint32_t dims, const vec *active, vec *out);
const ts_array *block_array(const block *b, const expr *load);
vec *block_borrow(block *b);
void block_give(block *b, vec *v);
