/* probe.h - what the machine can do at most, measured now: the ceilings that shares of peak refer to. Rates are in
 * units of 10^9 a second. Text is the caller's. */
#pragma once
#include "tessera.h"

/* Nanoseconds of a fixed, register-only loop on the calling thread (about 0.1 ms). It moves when the clock changes or
 * another tenant takes the core, and with nothing that a model does: read beside each sample, it tells
 * weather from difference. */
double canary_measure(void);

/* Measured ceilings on the first cores, pinned: fma_f32_gflops, fma_f64_gflops, read_gbs, l1_gbs, ... and "units":
 * every instruction set that the machine has. isa NULL: the widest. threads 0: one per core. effort: 1 takes about a
 * second, a part of it as much less, from fewer repeats and less memory: a look is not worth more than what is held
 * against it. */
char *probe_json(const char *isa, int threads, double effort, ts_error *e);
