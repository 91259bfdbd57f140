/* profile.h - kernels of results/1 as people see them. Texts are only read, and what is printed is the same for the
 * same text. */
#pragma once
#include "cli/args.h"

/* A table for each candidate that has times of kernels. False where the text is no results. */
bool profile_show(const paper *on, const char *results, ts_error *e);
