/* random_loops.h - loops as somebody may write them: random orders, steps, roles and staging, mostly legal. A function
 * of the dice; what is not legal is refused with a reason. Text is the caller's and grows at its end. */
#ifndef TS_RANDOM_LOOPS_H
#define TS_RANDOM_LOOPS_H
#include "schedule/plan/plan.h"
#include "tests/backends/random_row.h"

void random_loops(dice *d, const plan *p, const kernel *k, text *out);       /* for a processor's cores and vectors */
void random_group_loops(dice *d, const plan *p, const kernel *k, text *out); /* for groups of lanes */
/* Of what a load reads; MAX_LOADS: of the result. Empty where it has no dimension. */
void random_layout(dice *d, const stage *s, int load, text *out);
#endif
