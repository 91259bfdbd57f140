/* texts.h - a plan's kernels, and those of its scans' trips, as texts of a device's language, each distinct one once.
 * All of it is of device_texts until it is freed; the plan is borrowed for its life. */
#pragma once
#include "backends/codegen/codegen.h"
#include "backends/codegen/levels.h"
#include "schedule/plan/hazard.h"

typedef struct device_texts {
    levels levels; /* of the plan: kernels have their numbers */
    int n_kernel, n_unit;
    kernel_text *kernel; /* by kernel; of scans and copies their operands alone */
    int *unit_of; /* of each: distinct texts by number; -1: it is a scan, a copy, or part of the launch of another */
    int *first;   /* by unit: the first kernel that has its text */
    /* Of the plan's own kernels, or launches of them; those that share what does not fit into their groups' memory wait
     * for each other */
    hazards hazards;
} device_texts;

typedef bool device_writer(const dialect *d, const plan *p, const kernel *k, kernel_text *out, err *e);
/* Some kernels are launched together, where `together` says so. False with e set; then there is nothing to free. */
bool device_texts_make(device_texts *t, const plan *p, const dialect *d, device_writer *write, bool together, err *e);
void device_texts_free(device_texts *t);
bool device_walks(const plan *p, const kernel *k); /* it is no function: trips of a scan, or a copy */
const kernel_text *device_unit(const device_texts *t, int unit);
