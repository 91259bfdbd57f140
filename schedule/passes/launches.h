/* launches.h - what of kernels that are launched together is told kernel by kernel. The pass itself is in plan.h.
 * A launch stands where its last kernel does: `row`, that kernel's number in [0, n_kernel); a kernel launched alone is
 * a launch of one. Nothing fails, and only seconds are written. The plan is only read, and the list of seconds is the
 * caller's. */
#pragma once
#include "schedule/plan/plan.h"

/* Whether it can be a part of a text whose groups have so many lanes: what it takes of them is what all groups have. */
bool kernel_joins(const plan *p, const kernel *k, int64_t lanes);
int launches_count(const plan *p);            /* of all its kernels */
int launches_members(const plan *p, int row); /* kernels that the launch at row is made of; 0: it is part of another */
/* seconds: [n_kernel], of each launch at its row. Becomes that of each kernel: its share by the bytes that it moves. */
void launches_share(const plan *p, double *seconds);
/* after(user, k) of each kernel that the launch at row is made of, in order; of none where it is part of another */
void launches_each(const plan *p, int row, void (*after)(void *user, int kernel), void *user);
