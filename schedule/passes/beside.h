/* beside.h - scans that one worker each makes, side by side: those that need nothing of one another follow one another
 * in a plan's order, lie apart in memory, and are made by as many workers at once. Their trips have no barrier. All of
 * it is the plan's, and changed in place. */
#ifndef TS_BESIDE_H
#define TS_BESIDE_H
#include "schedule/plan/plan.h"

/* Moves scans of one worker next to one another where the order of what they need allows it, as many as there are
 * workers, and numbers them (kernel.beside). Bits and work stay as they are. */
void beside_order(plan *p);
/* Numbers them anew, after other moves. */
void beside_number(plan *p);
/* Lives last as long as any of the kernels beside those that begin and end them. Requires lifetimes. */
void beside_lives(const plan *p, buffer **all, int n);
#endif
