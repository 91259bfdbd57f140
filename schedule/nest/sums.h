/* sums.h - in which order a stage adds up, as far as that is for a guess to choose. Where bits are to be the same on
 * every target (plan.reproducible) it follows from extents and subscripts alone: never from what a machine has, how
 * values lie there, or which stages share a kernel. So every guess asks here. Questions to a plan: nothing is kept. */
#pragma once
#include "schedule/plan/plan.h"

/* The folded axis along which neighbours have partial sums of their own, which are added in halves; -1: none has. Of a
 * product with several results: only of a matrix that is no weight with one vector, or each of several with its own,
 * where vectors across rows would be gathered. Operands lie along that axis, one element behind the other. */
int sums_along(const plan *p, const kernel *k, const stage *s);
/* How many partial sums those are: the same on any processor */
int64_t sums_width(const stage *s);
int sums_longest(const stage *s); /* which goes innermost where none is along it */
/* Folded axes from outside in, `last` innermost: order[n_result] .. order[n_axis - 1] */
void sums_order(const stage *s, int last, int *order);
