/* stride.h - where elements that a stage reads and stores lie in memory, by its axes.
 * Questions to a plan: nothing is kept. */
#pragma once
#include "graph/affine/index.h"
#include "schedule/plan/plan.h"

/* Where elements of a load or of the result (MAX_LOADS) lie, in elements: the stage's axes are variables. */
const affine *stride_place(space *sp, const plan *p, const stage *s, int load);
/* How far apart neighbours along an axis lie, in bytes, of a load or of the result (MAX_LOADS); 0 when it does not move
 * or not by one number. */
int64_t stride_along(const plan *p, const stage *s, int load, int axis);
