/* figure.h - numbers with units, as the texts that describe machines have them. What is printed reads as the same
 * number; what is out of range is refused, never cut. Nothing is kept: numbers go where the caller says, text into the
 * caller's. */
#pragma once
#include "graph/base/base.h"

/* Each reads what stands at *s and moves on; false: it is none, or out of range. */
bool figure_number(const char **s, int64_t least, int64_t most, int64_t *out);
bool figure_bytes(const char **s, int64_t *out);                  /* 32MB, 32MiB, 32M: the same, in powers of 1024 */
bool figure_rate(const char **s, const char *unit, int64_t *out); /* 3350GB/s for "B/s", in powers of 1000 */
/* The same, in the largest unit that divides them */
void figure_print_bytes(text *t, int64_t bytes); /* "32MB" */
void figure_print_rate(text *t, int64_t rate, const char *unit);
