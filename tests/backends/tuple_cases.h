/* tuple_cases.h - folds of several values over lanes of groups, for every device that has them: whole numbers. Constant
 * tables, row by row. */
#ifndef TS_TESTS_TUPLE_CASES_H
#define TS_TESTS_TUPLE_CASES_H
#include "tests/backends/ruled.h"

enum { TUPLE_CASES = 18 };
extern const ruled tuple_cases[TUPLE_CASES];
extern const struct op *const tuple_then[TUPLE_CASES];
#endif
