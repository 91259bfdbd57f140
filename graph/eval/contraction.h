/* contraction.h - the fold that takes nearly all the time: a sum of products of two loads, each maybe guarded by a
 * condition without which it is 0 (padding). Where a block reads is a list of runs, kept for every point of the folded
 * axes that move them; what the other axes add is the same for all lanes. The sums are those of block_eval, bit by
 * bit. It is its block's until contraction_free, and borrows both block and expression. */
#pragma once
#include "graph/eval/block.h"

typedef struct contraction contraction;
/* That of a definition, NULL when it has none; row: how many neighbouring results are best taken together. */
contraction *contraction_make(block *b, const expr *x, int64_t *row);
void contraction_free(contraction *c);
const expr *contraction_of(const contraction *c); /* the fold */
void contraction_start(contraction *c);           /* the block has moved */
void contraction_step(contraction *c, vec *acc);  /* adds the products where the folded axes are; acc is not same */
