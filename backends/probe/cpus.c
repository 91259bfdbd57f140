/* cpus.c - processors that this process may use, in the order in which it takes them, and work on several at once
 * behind a barrier at which they spin: to sleep would cost more than what is measured. */
#include "backends/probe/cpus.h"
#include "backends/probe/clock.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The lowest hardware thread of the core that a processor belongs to: one name per core. */
static int core_of(int cpu)
{
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    FILE *f = fopen(path, "r");
    int first = cpu;
    if (!f)
        return cpu;
    if (fscanf(f, "%d", &first) != 1)
        first = cpu;
    fclose(f);
    return first;
}

void cpus_allowed(cpu_list *out)
{
    cpu_set_t mask;
    *out = (cpu_list){0};
    bool known = sched_getaffinity(0, sizeof mask, &mask) == 0;
    static const int passes = 2; /* first one thread of each core, then the siblings */
    char seen[CPUS_MAX] = {0}, taken[CPUS_MAX] = {0};
    for (int pass = 0; pass < passes; pass++) {
        for (int c = 0; c < CPUS_MAX && known; c++) {
            if (!CPU_ISSET(c, &mask) || taken[c])
                continue;
            int core = core_of(c);
            if (pass == 0 && core >= 0 && core < CPUS_MAX && seen[core]++)
                continue;
            taken[c] = 1;
            out->cpu[out->n++] = c;
        }
        if (pass == 0)
            out->cores = out->n;
    }
    if (out->n == 0)
        out->n = out->cores = 1;
}

bool cpus_pin(const cpu_list *l, int first, int n)
{
    cpu_set_t mask;
    CPU_ZERO(&mask);
    for (int i = first; i < first + n && i < l->n; i++)
        CPU_SET(l->cpu[i], &mask);
    return sched_setaffinity(0, sizeof mask, &mask) == 0;
}

static bool read_cache(int index, const char *what, const char *form, void *out)
{
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, what);
    FILE *f = fopen(path, "r");
    if (!f)
        return false;
    bool got = fscanf(f, form, out) == 1;
    fclose(f);
    return got;
}

cache_sizes cpus_caches(void)
{
    cache_sizes c = {0};
    for (int i = 0; i < 8; i++) {
        int level = 0;
        size_t kib = 0;
        char type[16] = "";
        if (!read_cache(i, "level", "%d", &level) || !read_cache(i, "type", "%15s", type) || type[0] == 'I' ||
            !read_cache(i, "size", "%zuK", &kib))
            continue;
        size_t *to = level == 1 ? &c.l1 : level == 2 ? &c.l2 : level == 3 ? &c.l3 : NULL;
        if (to)
            *to = kib * 1024;
    }
    return c;
}

int cpus_quota(void)
{
    FILE *f = fopen("/sys/fs/cgroup/cpu.max", "r");
    if (!f)
        return 0;
    double quota = 0, period = 1;
    int got = fscanf(f, "%lf %lf", &quota, &period); /* "max 100000" where there is no limit */
    fclose(f);
    return got == 2 && period > 0 && quota > 0 ? (int)ceil(quota / period) : 0;
}

static void pause_a_little(int spins)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
    if (spins % 4096 == 4095)
        sched_yield(); /* a partner may be waiting for this very core */
}

void barrier_wait(barrier *b)
{
    int round = atomic_load_explicit(&b->round, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&b->waiting, 1, memory_order_acq_rel) + 1 == b->parties) {
        atomic_store_explicit(&b->waiting, 0, memory_order_relaxed);
        atomic_store_explicit(&b->round, round + 1, memory_order_release);
        return;
    }
    for (int spins = 0; atomic_load_explicit(&b->round, memory_order_acquire) == round; spins++)
        pause_a_little(spins & 0xFFFFF);
}

typedef struct member {
    const cpus_job *job;
    barrier *together;
    int index;
    pthread_mutex_t *gate; /* held until it is known how many threads there are */
    int64_t *times;        /* start and end of each repeat */
    pthread_t thread;
} member;

static void *member_main(void *user)
{
    member *m = user;
    cpus_pin(m->job->cpus, m->index % m->job->cpus->n, 1);
    pthread_mutex_lock(m->gate);
    pthread_mutex_unlock(m->gate);
    for (int r = 0; r < m->job->repeats; r++) {
        barrier_wait(m->together);
        m->times[2 * r] = clock_ns();
        m->job->work(m->job->arg, m->index);
        m->times[2 * r + 1] = clock_ns();
    }
    return NULL;
}

static cpus_time times_of(const member *m, int n, int repeats)
{
    cpus_time t = {.ran = n, .together = INFINITY};
    for (int r = 0; r < repeats && n > 0; r++) {
        int64_t start = INT64_MAX, end = INT64_MIN;
        for (int i = 0; i < n; i++) {
            start = m[i].times[2 * r] < start ? m[i].times[2 * r] : start;
            end = m[i].times[2 * r + 1] > end ? m[i].times[2 * r + 1] : end;
        }
        t.together = fmin(t.together, (double)(end - start) * 1e-9);
    }
    for (int i = 0; i < n; i++) {
        double best = INFINITY;
        for (int r = 0; r < repeats; r++)
            best = fmin(best, (double)(m[i].times[2 * r + 1] - m[i].times[2 * r]) * 1e-9);
        t.rate += 1 / best;
    }
    return t;
}

cpus_time cpus_run(const cpus_job *job)
{
    size_t threads = (size_t)job->threads, repeats = (size_t)job->repeats;
    member *m = calloc(threads, sizeof *m);
    int64_t *times = calloc(threads * repeats * 2, sizeof *times);
    barrier together = {0};
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    int n = 0;
    pthread_mutex_lock(&gate);
    for (; m && times && n < job->threads; n++) {
        m[n] = (member){job, &together, n, &gate, times + (size_t)n * repeats * 2, 0};
        if (pthread_create(&m[n].thread, NULL, member_main, &m[n]) != 0)
            break;
    }
    together.parties = n;
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < n; i++)
        pthread_join(m[i].thread, NULL);
    cpus_time t = times_of(m, n, job->repeats);
    free(times);
    free(m);
    return t;
}
