/* unroll.h - loops of the statements that are printed, as they are run on a machine whose workers are groups of lanes:
 * its compiler writes out trips by itself. Plain values; statements are only read. */
#pragma once
#include "backends/codegen/stmt.h"

typedef struct unrolling {
    double operations; /* of one trip; INFINITY: a loop within it goes round */
    double copies;     /* of its trips stand one behind the other */
} unrolling;
unrolling unroll_of(const stmt *s);
