/* clock.h - the one clock of all measurements: monotonic and raw, so that no time service bends it.
 * Differences mean something, within one process; no state. */
#pragma once
#include <stdint.h>

int64_t clock_ns(void);

typedef struct clock_facts {
    double resolution_ns; /* smallest step seen */
    double overhead_ns;   /* of one reading */
} clock_facts;
clock_facts clock_measure(void);
