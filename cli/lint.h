/* lint.h - a schema held against a model, or against the step of a run of train: which kernels follow its rules, what
 * is refused and noted, where tiles fit, how much memory. Nothing is built or run. */
#pragma once
#include "cli/args.h"

/* Says it, and what it warns of on standard error; schema NULL: the guess. An exit code, or e is set. */
int lint_model(const args *a, const char *model, const char *schema, ts_error *e);
