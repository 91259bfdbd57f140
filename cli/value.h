/* value.h - numbers, times, sizes and percentages as people write them.
 * A value is read whole or refused: no prefix of it counts. Text is only read, and nothing is kept. */
#pragma once
#include "cli/verb.h"

#include <stddef.h>

/* Checks a value by its option's kind; on a mistake the error names the option, the value and what is accepted. */
bool value_check(const option *o, const char *value, ts_error *e);
/* Each reads the whole of s or fails. */
bool value_integer(const char *s, int64_t *out);
bool value_number(const char *s, double *out); /* decimal, with or without exponent; finite */
bool value_seconds(const char *s, double *out);
bool value_bytes(const char *s, int64_t *out);
bool value_percent(const char *s, double *out); /* a fraction: 1% is 0.01 */
/* A value of the option's kind as people write it, in the largest unit that leaves it whole: 10m, 500ms, 1G, 5e-5. */
void value_spell(const option *o, double v, char *out, size_t size);
/* Whether word is one of the words in list, which are separated by |. */
bool value_listed(const char *list, const char *word);
