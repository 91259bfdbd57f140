/* part_cases.h - sums in parts that groups share, for every device that has them: whole numbers. A constant table. */
#ifndef TS_TESTS_PART_CASES_H
#define TS_TESTS_PART_CASES_H
#include "tests/backends/ruled.h"

enum { PART_CASES = 12 };
extern const ruled part_cases[PART_CASES];
#endif
