/* mask.h - what a mask leaves of a kernel: blocks of keys that no query of a block sees are not walked.
 *
 * Requires: the kernel's nests. A stage whose value is a very low number there (a masked score) is not computed there,
 * nor is what follows from it: a maximum that is never taken from there, an exponential that is 0, sums to which that
 * adds nothing. All of it is derived: the low number by bounds of the expressions that make up the mask (constants,
 * comparisons of axes, whatever else is unknown), the rest by what those expressions give for such a number. That the
 * maximum is indeed far above it is known only when the kernel runs, so it is tested there, for each block; where it is
 * not, as in a row of which everything is masked, the block is walked whole. Results are the same to the bit, except
 * that a masked score beyond 1e30 counts as masked, and that a value that is no number is not read. What is found lies
 * in the plan's arena. */
#pragma once
#include "schedule/plan/plan.h"

enum { MASK_LOW = -1000 }; /* a score at most this is masked */

typedef struct masking { /* a stage of scores, in blocks: of `grain` along an axis, and of rows */
    plan *p;
    const kernel *k;
    int from, axis, rows; /* the stage, and its axes */
    int64_t grain;
    double high, least; /* masked scores are at most this, the largest of a row, by its test, at least that */
} masking;

void mask_find(plan *p, kernel *k);   /* sets k->mask where there is something to leave out, with a note */
void mask_stream(plan *p, kernel *k); /* the same for kernels that carry states along keys (mask_stream.c) */

/* Counts from the last one on which blocks are masked, by rows as the shared loops take them: y->count, and what else
 * is known of them; m->high and m->least. False: none is. */
bool mask_count(masking *m, mask_skip *y);
