/* launches.h - what of kernels that are launched together is told kernel by kernel. The pass itself is in plan.h. */
#ifndef TS_LAUNCHES_H
#define TS_LAUNCHES_H
#include "schedule/plan.h"

int launches_count(const plan *p);            /* of all its kernels */
int launches_members(const plan *p, int row); /* kernels that the launch of kernel `row` is made of */
/* By kernel: a launch's time, which is its last one's, is shared by the bytes that each moves. */
void launches_share(const plan *p, double *seconds);
/* after(user, k) of each kernel that the launch of kernel `row` is made of; of none where it is part of another one */
void launches_each(const plan *p, int row, void (*after)(void *user, int kernel), void *user);
#endif
