/* reuse.h - results that lie where an operand of their kernel lay, because each of their elements reads it there and
 * nowhere else. Derived from where loads and stores are, as forms of the loops' variables; no operation is named.
 * Buffers and kernels are the plan's and changed in place. */
#ifndef TS_REUSE_H
#define TS_REUSE_H
#include "schedule/plan/plan.h"

/* May stage `which` of k write over operand n, of which nothing is needed after k? It may when every read of it by that
 * stage is of the place being written, and every read by an earlier stage is of places written in the same
 * trip of the shared loops. */
bool reuse_legal(const plan *p, const kernel *k, int which, const node *n);
/* Moves kernels whose results inputs become behind those that read the inputs, where nothing between needs them. */
void carry_order(plan *p);
/* Buffers in the inputs that become them, where nothing reads the old value afterwards. Requires lifetimes. */
void carry_in_place(plan *p);
#endif
