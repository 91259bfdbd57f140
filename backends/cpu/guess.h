/* guess.h - the choice of loops for a processor: from extents, accesses, vector width, registers and cache sizes alone.
 * A person prints its nests, edits one number and gives them back. As in guesser. It keeps nothing of the plan, and the
 * nest is the caller's. */
#pragma once
#include "schedule/nest/nest.h"

enum { L1, L2, L3 };                                            /* of target.level */
enum { CPU_COPY, CPU_L1, CPU_L2, CPU_NTA };                     /* of target.space */
enum { CPU_SERIAL, CPU_CORE, CPU_UNROLL, CPU_VECTOR, CPU_DOT }; /* of target.role */
extern const memory_space cpu_space[];

/* A kernel has extents and loads, of guess_stage its shared loops too. */
void guess_shared(const plan *p, const kernel *k, nesting *out); /* loops that all its stages stand in */
/* Of stage `which`, within those; second: see guesser */
void guess_stage(const plan *p, const kernel *k, int which, nesting *out, text *second);
void guess_prefetch(const plan *p, kernel *k);          /* adds to nests that have none written */
int64_t guess_block(const plan *p, const streaming *s); /* places of a block; 0: the axis stays whole */
