/* choose.h - the loops of one kernel, by rules or guessed. Every candidate that was refused leaves its reason in the
 * kernel's notes, so that explain can tell all of them. Nests and notes lie in the plan's arena; rules are its schema's
 * and only read. */
#ifndef TS_CHOOSE_H
#define TS_CHOOSE_H
#include "schedule/schema/schema.h"

/* used: 1 + MAX_STAGES of them: the rule that decides the kernel, then those that decide its stages; NULL: none. */
bool choose_loops(plan *p, kernel *k, const rule **used, err *e);
#endif
