/* guess.h - the built-in choice of loops: from extents, accesses, vector width, registers and cache sizes alone. What
 * it says is text in the notation, so a person prints it, edits one number and gives it back. */
#ifndef TS_GUESS_H
#define TS_GUESS_H
#include "schedule/nest.h"

/* The loops that stages share; empty for one stage */
void guess_shared(const plan *p, const kernel *k, text *out);
void guess_stage(const plan *p, const kernel *k, int which, text *out); /* under the shared loops already read */
/* Fetches slices of streamed operands one trip ahead where nothing else was written; marks them derived. */
void guess_prefetch(const plan *p, kernel *k);
#endif
