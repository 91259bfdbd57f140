/* split.h - sums that several workers share, in parts: see split.c.
 * Parts are steps of the axis, whose number is of the nest and not of the machine, so bits are the same on any number
 * of workers. Kernels made are the plan's and lie in its arena; nothing else is kept. */
#pragma once
#include "schedule/plan/plan.h"

/* Where kernel `at` has such a loop, it sums up the parts, and a kernel that adds them up stands behind it. */
bool split_kernel(plan *p, int at, err *e);
int split_bytes(const expr *fold); /* that a part leaves for each result */
