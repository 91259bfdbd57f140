/* probe.h - what the machine can do at most, measured now: the ceilings that shares of peak refer to. */
#ifndef BENCH_PROBE_H
#define BENCH_PROBE_H

/* Nanoseconds of a fixed, register-only loop on the calling thread (about 0.1 ms). It moves when the clock changes or
 * another tenant takes the core, and with nothing that a model does: read beside each sample, it tells
 * weather from difference. */
double canary(void);
#endif
