/* place.h - the pass that gives kernels to devices.
 *
 * The room:  place: who decides (rules, what devices take) -> guess: where a plan takes least time
 *                  -> split: parts and transfers
 *
 * Sites, parts and transfers are the plan's and lie in its arena (site.h);
 * afterwards every kernel has one site. */
#pragma once
#include "schedule/plan/plan.h"

bool pass_place(plan *p, err *e);
/* Kernels that nothing was decided of go where the plan takes least time by the costs of the targets; into p->placed.
 * Whether any moved. */
bool place_guess(plan *p);
/* Seconds of one kernel, or transfer, on site `to`, by the costs of its target. */
double place_kernel_seconds(const plan *p, const kernel *k, int to);
/* Kernels have sites: orders them, puts transfers in between, makes the parts. */
bool place_split(plan *p, err *e);
