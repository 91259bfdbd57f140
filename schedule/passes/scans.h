/* scans.h - scans in a plan. What one trip computes is planned by itself, as parts of a plan over several devices
 * are: with fusion, loops, layouts and an arena, which all trips share. Its inputs are the states, the rows at hand,
 * the rows to be gathered, and what is read from outside; weights are laid out as its kernels walk them, once, among
 * those of the plan around it. States are rewritten in place where that is harmless, and gathered rows are written
 * where they go; else they are copied behind the trip. A trip of little work is planned for one worker: no barrier
 * stands in it. A trip's plan is its kernel's, with a graph of its own, until plan_free. */
#pragma once
#include "schedule/plan/plan.h"

/* Whether a device takes all kernels of a trip of the scan that k is, before any of them has loops; the first that it
 * does not take is told. */
typedef struct scan_asker {
    bool (*takes)(void *user, const kernel *k, err *e);
    void *user;
} scan_asker;
bool scan_taken(plan *p, const kernel *k, const target *on, const scan_asker *ask, err *e);
