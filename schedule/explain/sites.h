/* sites.h - what explain says of a plan over several devices: who has what, and what goes between them. Of a
 * plan for one device all of it is that plan, so that who explains need not ask. Nothing is changed or kept. */
#ifndef TS_EXPLAIN_SITES_H
#define TS_EXPLAIN_SITES_H
#include "schedule/plan/plan.h"

const plan *sites_plan(const plan *p, const kernel *k);               /* with k's target, loops and buffers */
void sites_explain_transfer(text *t, const plan *p, const kernel *k); /* the members of a kernel, after its name */
void sites_explain(text *t, const plan *p);                           /* "places"; nothing for one device */
void sites_notes(const plan *p, text *out);                           /* lines */
double sites_weights(const plan *p);                                  /* bytes, in their layouts */
double sites_sum(const plan *p, double (*of)(const plan *part));      /* over the parts; of one device, of itself */
#endif
