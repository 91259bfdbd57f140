/* team.h - a fixed number of threads that run one function together and meet at barriers. The calling thread is part 0.
 * Everybody is pinned while working, or nobody: a member that shares a processor with another costs a time slice at
 * each barrier. The caller's own affinity and floating-point
 * mode come back afterwards. Every member computes in the same mode: round to nearest, no traps, denormal numbers taken
 * and given as zero (x86). Waiting spins for some 50 us and then sleeps; it does not spin at all when members have to
 * share processors. A team belongs to the process that made it and runs one function at a time.
 *
 * Tessera runs plans by it, and programs that it writes carry it as it is. */
#ifndef TEAM_H
#define TEAM_H
#include <stdbool.h>

typedef struct team team;
typedef void team_work(void *arg, int part, int parts);

typedef enum team_trouble { TEAM_NO_PROCESSOR, TEAM_NO_THREAD, TEAM_NO_MEMORY } team_trouble;
typedef struct team_reason {
    team_trouble trouble;
    int number; /* of the processor, or of the thread, from 1 */
    int error;  /* of a thread: an errno */
} team_reason;
/* os_cpu: the system's number of the processor of each part; NULL: nobody is pinned. NULL, with why, when they cannot
 * be had. */
team *team_open(int threads, const int *os_cpu, team_reason *why);

typedef enum team_state { TEAM_READY, TEAM_BUSY, TEAM_FORKED } team_state;
/* Calls work in all members, parts 0 to size-1, and returns when all are done. Nothing ran where it answers TEAM_BUSY
 * (inside work, or from two threads at once) or TEAM_FORKED (in a child, whose threads stayed behind). */
team_state team_do(team *t, team_work *work, void *arg);
void team_wait(void *team); /* inside work: returns when every member has called it as often */
/* Whoever waits spins until it is over, if it spins at all: what follows a long wait then is not late by it. */
void team_awake(team *t, bool on);
void team_close(team *t);
#endif
