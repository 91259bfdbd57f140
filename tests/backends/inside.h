/* inside.h - scans as one kernel, for tests of devices: a loop that is inside of a kernel gives the bits that the same
 * plan gives whose trips the host walks. */
#ifndef TS_TEST_INSIDE_H
#define TS_TEST_INSIDE_H
#include "schedule/plan/plan.h"
#include "tessera.h"

int inside_count(const plan *p); /* kernels that hold a loop, those of trips as well */
void inside_walk(plan *p);       /* from here on, the host makes all trips */
/* Loops backwards, one within another, ended early, of cells with gates, and gradients of all; one in `share` */
void inside_check(const ts_options *on, int share);
#endif
