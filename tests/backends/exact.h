/* exact.h - sums of small integers are exact in any order, so whatever the loops, layouts, threads and instructions,
 * the C target must give the interpreter's bits. Rows that start with "~" have real functions in them: equal within a
 * few roundings. All rows are one plan, so that kernels follow each other as in a model: values that overlap in memory
 * show, too. */
#ifndef TS_TESTS_EXACT_H
#define TS_TESTS_EXACT_H
#include "tessera.h"

/* Every instruction set that the host has; all: each number of threads under each schema, else a part of these in which
 * every row meets every instruction set and one of the schemas, most of it compiled with -Og. */
void exact_check(bool all);
/* One target as it is, by its guess: of every `share` rows number `first`, but those with routines, which it does not
 * take. */
void exact_check_on(const ts_options *on, int share, int first);
#endif
