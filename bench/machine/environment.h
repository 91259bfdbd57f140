/* environment.h - the machine as it is now, for the results: what could matter and could be read. Objects and texts are
 * the caller's to free; nothing is kept.
 * The room:  clock, cpus -> units -> probe: ceilings -> shares: of what is possible     environment */
#pragma once
#include "graph/base/js.h"

#include <stdint.h>

/* Processor time since the machine started, in ticks, of the processors together. */
typedef struct cpu_ticks {
    double all, stolen;
} cpu_ticks;
cpu_ticks cpu_ticks_now(void);
double load_now(void);                             /* the average of the last minute; NaN where it cannot be read */
double stolen_share(cpu_ticks from, cpu_ticks to); /* NaN where it cannot be read */

extern const char revision[]; /* the commit that was built, written by the build; "" if that is not known */

/* isa, threads: what is used; NULL and 0 where that is not known. Gives an object of the caller's. */
cJSON *environment_make(const char *isa, int threads, uint64_t seed);

/* The machine and its state now: values, or null beside a "why" entry; never invented. */
char *environment_json(const char *isa, int threads, uint64_t seed, ts_error *e);
/* How quiet the machine is: spread of a register-only loop over half a second, steal time, load. */
char *noise_json(ts_error *e);
