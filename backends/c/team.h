/* team.h - a fixed number of threads that run one function together and meet at barriers. The calling thread is part 0.
 * Everybody is pinned while working, or nobody: a member that shares a processor with another costs a time slice at
 * each barrier. The caller's own affinity and floating-point mode come back afterwards. Every member computes in the
 * same mode: round to nearest, no traps, denormal numbers taken and given as zero (x86). Waiting spins for some 50 us
 * and then sleeps; it does not spin at all when members have to share processors. A team belongs to the process that
 * made it and runs one function at a time. */
#ifndef TS_C_TEAM_H
#define TS_C_TEAM_H
#include "graph/base/base.h"

enum { TEAM_MOST = 1024 };
typedef struct team team;
typedef void team_work(void *arg, int part, int parts);

/* os_cpu: the system's number of the processor of each part; NULL: nobody is pinned. */
team *team_make(int threads, const int *os_cpu, err *e);
/* Calls work in all members, parts 0 to size-1, and returns when all are done. False when called inside work, from two
 * threads at once, or in a forked child: nothing ran. */
bool team_run(team *t, team_work *work, void *arg, err *e);
void team_wait(team *t);          /* inside work: returns when every member has called it as often */
void team_wait_entry(void *team); /* the same, with the type that generated code calls */
void team_free(team *t);
#endif
