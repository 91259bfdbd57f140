/* lane_cases.h - loops over lanes: blocks that do not divide, slices that lanes copy together at any place, folds over
 * lanes and over vectors, stages with fewer lanes than their group, values that do not fit a group's memory. All give
 * the interpreter's bits. */
#ifndef TS_TESTS_LANE_CASES_H
#define TS_TESTS_LANE_CASES_H
#include "tests/backends/ruled.h"

void lane_cases_check(const ts_options *on);
#endif
