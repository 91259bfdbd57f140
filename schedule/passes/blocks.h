/* blocks.h - long sums in blocks, a part of the alternatives pass. Lengths are of rules or of the target's guess; what
 * cannot be cut stays whole, with a note. New nodes are the graph's, and old ones stay as they are. */
#ifndef TS_SCHEDULE_BLOCKS_H
#define TS_SCHEDULE_BLOCKS_H
#include "schedule/plan/plan.h"

/* p->root becomes roots of the same values up to rounding. */
bool blocks_take(plan *p, err *e);
#endif
