/* results.h - results/1 and comparison/1 as people see them: what was measured where, a row each, verdicts, notes.
 * Texts are only read. */
#pragma once
#include "cli/args.h"

/* Any file of the two formats, of whatever version of the tool. False where it is of neither. */
bool results_show(const paper *on, const char *results, bool quiet, ts_error *e);
/* As the command line says: as it is with --json, else as people see it; on standard output. */
bool results_give(const args *a, const char *results, ts_error *e);
