/* split.h - sums that several workers share, in parts: see split.c. */
#ifndef TS_SPLIT_H
#define TS_SPLIT_H
#include "schedule/plan.h"

/* Whether the loops' parts can be: e names the loop. */
bool split_check(const plan *p, const kernel *k, err *e);
/* Where kernel `at` has such a loop, it sums up the parts, and a kernel that adds them up stands behind it. */
bool split_kernel(plan *p, int at, err *e);
#endif
