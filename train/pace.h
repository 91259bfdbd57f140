/* pace.h - how long the steps that are left will take. A process's first step compiles what waits for its first launch,
 * and touches memory first; evaluations and steps that run kernel by kernel take longer now and then. So it is judged
 * by the median of what lies between the ends of the last steps. A plain value; zeroed is empty. */
#pragma once
#include <stdint.h>

enum { PACE_KEPT = 64 };
typedef struct pace {
    int64_t n;   /* steps of this process */
    double last; /* when the last one ended */
    double seconds[PACE_KEPT];
} pace;
void pace_step(pace *p, double now);           /* a step has ended */
double pace_left(const pace *p, int64_t left); /* seconds; NAN before the second step has ended, if any is left */
