/* resident.h - what of the weights a run has in memory. What stands somewhere already, in a file as a rule, is read
 * there; where only rows that the data choose are read, as of a table of words, the rest is never touched. A plan is
 * only read; the list of times is of the arena given. */
#pragma once
#include "schedule/plan/plan.h"

/* By node id, of a plan that has kernels: how often a leaf will be in memory as a whole. A table that is read by
 * indices and by a product too is laid out for each: made from a seed, it is there twice. */
int *resident_times(const plan *p, arena *mem);
int64_t resident_as_given(const plan *p); /* bytes of these leaves, each once and as the model has it */
int64_t resident_weights(const plan *p);  /* bytes, of a plan that has layouts */
