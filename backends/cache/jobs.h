/* jobs.h - many programs, some at a time, of which none holds up the rest: what takes too long is ended, and tried in
 * its second way if it has one. All is borrowed for the call. */
#pragma once
#include "backends/cache/child.h"

typedef struct job {
    const char *label;          /* what people call it */
    const char *const *argv[2]; /* the second where the first takes too long; NULL: there is none */
    const char *input;          /* as in child_job */
    child_limits limits;        /* of each try */
} job;

typedef struct job_list {
    int n, at_once; /* in this order; at once: at most CHILD_MOST */
    const job *job;
    const char *const *env;
    bool (*ended)(void *user, int i, int tried, const child *c, err *e); /* tried: ways; false: all others end, too */
    void (*step)(void *user, const char *label, int done); /* now and then: of the one that runs longest */
    void *user;
} job_list;
bool jobs_run(const job_list *l, err *e); /* false with the first failure; then nothing runs any more */
