/* blame.h - where a number stopped being one: the step is gone through again, kernel by kernel.
 * The state of the run is as it was before the step, and stays so; all arguments are the caller's. */
#pragma once
#include "graph/base/base.h"
#include "train/step.h"

/* The step has just failed on the batch of examples `which`, and its state is as before. Says in words which parameters
 * have gradients that are not finite, and what the first kernel is, or which input; nothing where that cannot be
 * found. */
void blame_write(step *s, const net *n, const int64_t *which, const double *norms, text *out);
