/* proportion.h - kernels are timed one by one. Where they take much longer so than the pass they are of, as on a busy
 * machine, what is said of a difference between passes takes their times in proportion. Results are borrowed. */
#pragma once
#include <cjson/cJSON.h>

double kernels_scale(const cJSON *candidate); /* of results/1: times this; mostly 1 */
