/* legal.h - whether loops that read well can be done by what the target has: registers, spaces, matrix units.
 * A refusal is a sentence with both counts; it is asked of written and guessed loops alike. Plans and kernels are only
 * read, and nothing is kept. */
#ifndef TS_LEGAL_H
#define TS_LEGAL_H
#include "schedule/plan/plan.h"

bool nest_fits(const plan *p, const kernel *k, const char *loops, err *e); /* refused with numbers, and what would do */
#endif
