/* null.c - a target that plans and runs nothing: schedules at full speed, for tests and for a look at a plan. */
#include "backends/cpu/cpu.h"

const backend backend_null = {.name = "null", .target = cpu_target, .doc = "Plans and emits nothing, runs nothing."};
