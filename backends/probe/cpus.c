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
#include <time.h>

/* The lowest hardware thread of the core that a processor belongs to: one name per core. */
static int core_of(int cpu)
{
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    FILE *f = fopen(path, "r");
    int first = cpu;
    if (f && fscanf(f, "%d", &first) != 1)
        first = cpu;
    if (f)
        fclose(f);
    return first;
}

void cpus_allowed(cpu_list *out)
{
    cpu_set_t mask;
    *out = (cpu_list){0};
    bool known = sched_getaffinity(0, sizeof mask, &mask) == 0;
    char seen[CPUS_MAX] = {0}, taken[CPUS_MAX] = {0};
    for (int pass = 0; pass < 2; pass++) { /* first one thread of each core, then the siblings */
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

typedef struct repeat {
    int64_t start, end, lost; /* lost: ns without its processor, since it came to the barrier */
} repeat;

/* What the threads of a job share */
typedef struct team {
    const cpus_job *job;
    barrier together;
    pthread_mutex_t gate; /* held until it is known how many threads there are */
    int n;
    _Atomic int end; /* first repeat that is not done, said by the first thread before it comes to its barrier */
} team;

typedef struct member {
    team *of;
    int index, done;
    repeat *repeats;
    pthread_t thread;
} member;

static int64_t thread_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void *member_main(void *user)
{
    member *m = user;
    team *t = m->of;
    const cpus_job *job = t->job;
    const int64_t limit = job->limit > 0 ? (int64_t)(job->limit * 1e9) : INT64_MAX;
    cpus_pin(job->cpus, m->index % job->cpus->n, 1);
    pthread_mutex_lock(&t->gate);
    pthread_mutex_unlock(&t->gate);
    for (int r = 0; r < job->repeats; r++) {
        repeat *of = &m->repeats[r];
        const int64_t ran = thread_ns(), came = clock_ns();
        const bool over = r > 0 && came - m->repeats->start > limit;
        if (job->apart && over)
            break;
        if (m->index == 0 && over)
            t->end = r;
        if (r == 0 || !job->apart)
            barrier_wait(&t->together);
        if (r >= t->end)
            break;
        of->start = clock_ns();
        job->work(job->arg, m->index);
        of->end = clock_ns();
        of->lost = of->end - came - (thread_ns() - ran);
        m->done = r + 1;
    }
    return NULL;
}

typedef struct best {
    double seconds; /* of a quiet repeat, if there is one */
    int quiet;
} best;

static void best_add(best *b, int64_t ns, bool quiet)
{
    const double seconds = (double)ns * 1e-9;
    if (quiet == (b->quiet > 0) ? seconds < b->seconds : quiet)
        b->seconds = seconds;
    b->quiet += quiet;
}

static bool is_quiet(const repeat *of)
{
    return of->lost * 100 <= of->end - of->start;
}

static best best_together(const member *m, int n)
{
    best all = {INFINITY, 0};
    for (int r = 0; n > 0 && r < m->done; r++) {
        int64_t start = INT64_MAX, end = INT64_MIN;
        bool quiet = true;
        for (int i = 0; i < n; i++) {
            const repeat *of = &m[i].repeats[r];
            start = of->start < start ? of->start : start;
            end = of->end > end ? of->end : end;
            quiet = quiet && is_quiet(of);
        }
        best_add(&all, end - start, quiet);
    }
    return all;
}

static best best_alone(const member *m)
{
    best own = {INFINITY, 0};
    for (int r = 0; r < m->done; r++)
        best_add(&own, m->repeats[r].end - m->repeats[r].start, is_quiet(&m->repeats[r]));
    return own;
}

static cpus_time times_of(const member *m, int n, bool apart)
{
    best all = best_together(m, n);
    cpus_time t = {.ran = n};
    for (int i = 0; i < n; i++) {
        const best own = best_alone(&m[i]);
        t.rate += 1 / own.seconds;
        if (apart)
            all = (best){i ? fmax(all.seconds, own.seconds) : own.seconds,
                         i && all.quiet < own.quiet ? all.quiet : own.quiet};
    }
    t.seconds = all.seconds, t.quiet = all.quiet;
    return t;
}

cpus_time cpus_run(const cpus_job *job)
{
    const size_t threads = (size_t)job->threads, repeats = (size_t)job->repeats;
    member *m = calloc(threads, sizeof *m);
    repeat *times = calloc(threads * repeats, sizeof *times);
    team t = {.job = job, .gate = PTHREAD_MUTEX_INITIALIZER, .end = job->repeats};
    pthread_mutex_lock(&t.gate);
    for (; m && times && t.n < job->threads; t.n++) {
        m[t.n] = (member){&t, t.n, 0, times + (size_t)t.n * repeats, 0};
        if (pthread_create(&m[t.n].thread, NULL, member_main, &m[t.n]) != 0)
            break;
    }
    t.together.parties = t.n;
    pthread_mutex_unlock(&t.gate);
    for (int i = 0; i < t.n; i++)
        pthread_join(m[i].thread, NULL);
    const cpus_time is = times_of(m, t.n, job->apart);
    free(times);
    free(m);
    return is;
}
