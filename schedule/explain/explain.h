/* explain.h - a plan as JSON, plan/1: what explain, bench and report show; docs/plan.md has its keys.
 * A finished plan is only read. Keys may be added, those that there are keep their meaning. What is written goes to the
 * end of the caller's text. */
#ifndef TS_EXPLAIN_H
#define TS_EXPLAIN_H
#include "schedule/plan/plan.h"

/* Both append to out, the caller's. by: the back end's name; facts: members of a JSON object, which go under "build";
 * "" when there are none. */
void plan_explain(const plan *p, const char *by, const char *facts, text *out);
/* A tiling/1 file that the plan's loops amount to: read back for the same model, it gives the same plan. */
void plan_schema(const plan *p, const char *by, text *out);
#endif
