/* child.h - programs started without a shell, watched, limited, and cleaned up after.
 * A child gets its own process group, a file or nothing as standard input, only the environment given, no descriptor of
 * ours, default signals, and limits on time, memory and file sizes. What it prints on either stream is read to the end,
 * of which the first 64 KiB are kept. When it ends, or its time is up, its whole group is killed: nothing stays behind.
 * One thread owns a set of children. The limits guard against accidents, not against malice: the compiler
 * is trusted. */
#pragma once
#include "graph/base/base.h"

#include <sys/types.h>

enum { CHILD_MOST = 64, CHILD_TEXT = 65536, CHILD_NONE_YET = -2 };

typedef struct child_limits {
    double wall;               /* seconds until the group is killed */
    double idle;               /* the same, of those in which it uses no processor; 0: as long as it likes */
    int64_t cpu, memory, file; /* seconds; bytes of address space; bytes of one file written */
} child_limits;

typedef struct child_job {
    const char *const *argv; /* argv[0] is the program's path */
    const char *const *env;
    const char *input;          /* a file; NULL: nothing */
    const child_limits *limits; /* used while it is started only */
} child_job;

typedef struct child {
    pid_t pid; /* 0: not running */
    int pidfd, pipe;
    double deadline, look; /* on the monotonic clock, in seconds; look: when it is asked what it has done */
    double idle, used;     /* as in the limits; seconds of processors, at the last look or in the end */
    bool late, asleep;     /* killed at its deadline, or because it did nothing */
    int status;            /* as of waitpid, once ended; -1: somebody else took it */
    text said;             /* what it printed */
} child;

bool child_start(child *c, const child_job *job, err *e);
/* Waits until one of them ends and gives its number; -1 when none is running. n <= CHILD_MOST. */
int child_wait(child *set, int n);
/* The same within so many seconds; CHILD_NONE_YET: none has. */
int child_wait_within(child *set, int n, double seconds);
/* Kills those that still run and frees all. */
void child_free(child *set, int n);
bool child_succeeded(const child *c);
bool child_overran(const child *c, const child_limits *limits); /* it took too long, by one clock or the other */
/* What became of it: "exited with status 1", "was killed by signal 11", "ran for more than 60 s". */
void child_fate(const child *c, const child_limits *limits, text *out);
