/* diff.h - derivatives of expressions along any direction: d_expr (expr.h) is the one by one part.
 * Results are expressions of the arena given; NULL with no error set stands for 0, which is never multiplied out. */
#pragma once
#include "graph/ir/expr.h"

/* How a load, fold or state moves; NULL: it does not. */
typedef const expr *motion(void *user, const expr *x);
/* How x then moves; NULL with *e unset: it does not. Parts that are shared stay so. */
const expr *d_along(arena *mem, const expr *x, motion *of, void *user, err *e);
