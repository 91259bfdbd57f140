/* place.h - what the files of the placing pass share: place.c decides, guess.c guesses, split.c makes parts
 * and transfers of what was decided. Sites, parts and transfers are the plan's and lie in its arena (site.h);
 * afterwards every kernel has one site. */
#ifndef TS_PLACE_H
#define TS_PLACE_H
#include "schedule/plan/plan.h"

/* Kernels that nothing was decided of go where the plan takes least time by the costs of the targets; into p->placed.
 * Whether any moved. */
bool place_guess(plan *p);
/* Seconds of one kernel, or transfer, on site `to`, by the costs of its target. */
double place_kernel_seconds(const plan *p, const kernel *k, int to);
/* Kernels have sites: orders them, puts transfers in between, makes the parts. */
bool place_split(plan *p, err *e);
/* Runs a pass on every part, and brings what it says of kernels, values and refusals into the whole plan. */
bool place_each_part(plan *p, bool (*pass)(plan *part, err *e), err *e);
#endif
