/* explain.h - what a kernel does, counted in its C: "instructions" of plan/1. Nothing of a kernel that has no text. */
#ifndef TS_C_EXPLAIN_H
#define TS_C_EXPLAIN_H
#include "backends/backend.h"

bool c_count(const plan *p, const kernel *k, op_counts *out); /* target.count */
void c_explain(const plan *p, const kernel *k, text *out);
/* backend.show */
bool c_show(const plan *p, const kernel *k, const char *stage, const build_options *w, text *out, err *e);
#endif
