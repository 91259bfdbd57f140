/* explain.h - what a kernel does, counted in its C: "instructions" of plan/1. Nothing of a kernel that has no text. */
#pragma once
#include "schedule/plan/plan.h"

bool c_count(const plan *p, const kernel *k, op_counts *out, footprint *bytes); /* target.count */
bool c_explain(const plan *p, const kernel *k, op_counts *counts, footprint *bytes, text *out);
