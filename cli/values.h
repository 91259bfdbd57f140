/* values.h - values/1: what every value of a run is, in the order in which they are computed, in so few numbers that
 * two runs can be held against each other by their files alone. Lists are the caller's JSON; arrays are only read. */
#pragma once
#include "graph/base/js.h"

#define FORMAT_VALUES "values/1"

/* place: in that order, whatever the order of calls */
void values_put(cJSON *list, int place, const char *name, const ts_array *value);
/* Puts "values", "differ", "only_a", "only_b" and the "first" value that differs into `out`: another dtype or shape;
 * else, with tolerance 0, another checksum, or numbers further apart than it. */
bool values_diff(const cJSON *a, const cJSON *b, double tolerance, cJSON *out, ts_error *e);
