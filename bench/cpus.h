/* cpus.h - which processors to use, and work on several of them at once.
 * One hardware thread per core comes first, so that n contestants' threads never share a core while another is free. */
#ifndef BENCH_CPUS_H
#define BENCH_CPUS_H
#include <stdbool.h>
#include <stddef.h>

enum { CPUS_MAX = 1024 };
typedef struct cpu_list {
    int n, cores; /* cores: how many of the n, from the front, lie on different cores */
    int cpu[CPUS_MAX];
} cpu_list;

void cpus_allowed(cpu_list *out);                   /* of the calling thread's affinity mask, cores first */
bool cpus_pin(const cpu_list *l, int first, int n); /* the calling thread, to l->cpu[first .. first + n) */

/* Data caches as the system states them, bytes per instance; 0 where there is none or it is not stated. */
typedef struct cache_sizes {
    size_t l1, l2, l3;
} cache_sizes;
cache_sizes cpus_caches(void);
int cpus_quota(void); /* processors that the cgroup grants, rounded up; 0: not limited */

/* Seconds of the best of `repeats` runs of work(arg, thread) on `threads` pinned threads that start together: from the
 * first start to the last end. ran: how many threads could be created; the time is infinite if none. */
typedef struct team_job {
    const cpu_list *cpus;
    int threads, repeats;
    void (*work)(void *arg, int thread);
    void *arg;
} team_job;
double team_best(const team_job *job, int *ran);

/* A spinning barrier. */
typedef struct barrier {
    int parties;
    _Atomic int waiting, round;
} barrier;
void barrier_wait(barrier *b);
#endif
