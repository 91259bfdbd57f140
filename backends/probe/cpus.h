/* cpus.h - which processors to use, and work on several of them at once.
 * One hardware thread per core comes first, so that n contestants' threads never share a core while another is free.
 * Lists and times are plain values; threads that a job starts have ended when it returns. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum { CPUS_MAX = 1024 }; /* as many as cpu_set_t has */
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

/* Runs work(arg, thread) `repeats` times on `threads` pinned threads. Bests are over repeats: a busy machine disturbs
 * most of them, and rarely all. A repeat is quiet if its thread had its processor for 99 hundredths of the time. */
typedef struct cpus_job {
    const cpu_list *cpus;
    int threads, repeats;
    void (*work)(void *arg, int thread);
    void *arg;
    bool apart;   /* threads start the first repeat together, and wait for nobody from then on; else each of them */
    double limit; /* seconds, from which on no repeat but the first begins; 0: none */
} cpus_job;
typedef struct cpus_time {
    int ran; /* threads that could be created */
    /* Of the best repeat, a quiet one if there is one, from the first start to the last end; apart: of the slowest
     * thread's best repeat. Infinite if nobody ran. */
    double seconds;
    int quiet;   /* repeats that were quiet for all threads; apart: for the thread that had the fewest */
    double rate; /* works per second, summed over threads, each by its own best repeat */
} cpus_time;
cpus_time cpus_run(const cpus_job *job);

/* A spinning barrier. */
typedef struct barrier {
    int parties;
    _Atomic int waiting, round;
} barrier;
void barrier_wait(barrier *b);
