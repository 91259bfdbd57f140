/* launches.h - what of kernels that are launched together is told kernel by kernel. The pass itself is in plan.h. */
#ifndef TS_LAUNCHES_H
#define TS_LAUNCHES_H
#include "schedule/plan.h"

/* By kernel: the time of a launch, which is its last one's, is shared by all of them, by the bytes that they move */
void launches_share(const plan *p, double *seconds);
/* after(user, k) of each kernel that the launch of kernel `row` is made of; of none where that is part of another one */
void launches_each(const plan *p, int row, void (*after)(void *user, int kernel), void *user);
#endif
