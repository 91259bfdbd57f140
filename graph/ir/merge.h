/* merge.h - how a fold of several values is put together from parts of its points. A merge that is found holds for any
 * cut into parts; who has none walks the fold in order. Expressions are of the arena given. */
#pragma once
#include "graph/ir/expr.h"

/* The merge of each state of fold x, a scan over axes that are folded, where it follows from the steps; the order of
 * points within a part is that of their numbers, and parts may be any sets of points. False: from one of them none
 * follows. What does:
 *   s (+) e              sums, products, extremes: any associative and commutative function, from where it changes
 *                        nothing
 *   k < e ? i : p        what is carried along with a largest or smallest key, where its place is, too
 *   exp(m - m') s + exp(x - m') e, m' = max(m, x)       sums under a running maximum
 *   n + 1, a + d / n', q + d (x - a'), d = x - a        count, mean and sum of squares (Welford) */
bool merge_derive(arena *mem, const expr *x, const expr *merge[MAX_STATE]);
