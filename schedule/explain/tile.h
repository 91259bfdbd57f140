/* tile.h - what the innermost loops of a kernel come to, as numbers by which two nests can be told apart: how
 * much of a vector is used, how many sums are under way at once, how often operands are loaded, how many share it.
 * Plain values of a plan that is only read. */
#ifndef TS_EXPLAIN_TILE_H
#define TS_EXPLAIN_TILE_H
#include "schedule/plan/plan.h"

typedef struct tile_facts {
    int64_t lanes, lanes_of; /* elements that one instruction takes, and at most; lanes 0: the compiler decides */
    int64_t sums, sums_of;   /* under way at once, in registers, and how many keep a core busy; 0 without a fold */
    int64_t multiply_adds;   /* written out in one trip of the innermost loop, each of lanes elements */
    double loads;            /* of operands and waiting sums, for each of them */
    int64_t cores;           /* that share the kernel */
} tile_facts;
void tile_explain(text *t, const plan *p, const kernel *k); /* "tile":{...} */
#endif
