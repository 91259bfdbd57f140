/* results.h - results/1 and comparison/1 as people see them: what was measured where, a row each, verdicts, notes.
 * Texts are only read. */
#pragma once
#include "cli/args.h"

/* The files that --out and --report name, the page as `page` makes it: what was measured over minutes must not be lost
 * to a closed terminal. */
typedef struct published {
    bool (*page)(const char *json, char **html, ts_error *e);
    bool (*show)(const args *a, const char *json, ts_error *e); /* for people */
} published;
/* And on standard output: as it is with --json, else shown; nothing more where --out is - itself. */
bool results_publish(const args *a, const char *json, const published *how, ts_error *e);
/* What a signal cut short is safe: how to go on, and then the signal takes its course. 0: none came. */
void results_stop(const args *a, int signal);

/* Any file of the two formats, of whatever version of the tool. False where it is of neither. */
bool results_show(const paper *on, const char *results, bool quiet, ts_error *e);
/* As the command line says: as it is with --json, else as people see it; on standard output. */
bool results_give(const args *a, const char *results, ts_error *e);
