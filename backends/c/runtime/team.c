/* team.c - worker threads, and the gate that both the start of work and the barrier are made of. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* processors of threads */
#endif
#include "backends/c/runtime/team.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

enum { LINES = 128 }; /* two cache lines: processors fetch them in pairs */
static const size_t stack_bytes = 8 << 20;
static const int64_t spin_ns = 50000; /* about what putting a thread to sleep and waking it costs */

/* A number that threads wait on until it changes. */
typedef struct gate {
    _Alignas(LINES) atomic_uint word;
    atomic_int sleepers;
} gate;

typedef struct member {
    struct team *team;
    int part;
    pthread_t thread;
} member;

struct team {
    gate start;                      /* counts runs */
    gate phase;                      /* counts barriers */
    _Alignas(LINES) atomic_int here; /* members that have reached the barrier */
    _Alignas(LINES) int size;
    int started;    /* workers that exist */
    int caller_cpu; /* -1: not pinned */
    bool spin, stop;
    atomic_bool awake; /* spins on */
    pid_t owner;
    char *mark; /* one byte that is 1 here and 0 in a forked child; NULL: the system cannot do that */
    atomic_bool busy;
    team_work *work;
    void *arg;
    member *member; /* 1 to size-1 */
};

/* ---- waiting ---- */

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void pause_briefly(void)
{
#if defined(__x86_64__)
    _mm_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static bool changed(const gate *g, unsigned old)
{
    return atomic_load_explicit(&g->word, memory_order_acquire) != old;
}

/* Looks at the clock now and then only. */
static bool spin_until_changed(const gate *g, unsigned old, const atomic_bool *awake)
{
    enum { BETWEEN = 64 };
    for (int64_t end = 0;;) {
        for (int i = 0; i < BETWEEN; i++) {
            if (changed(g, old))
                return true;
            pause_briefly();
        }
        int64_t t = now_ns();
        end = end ? end : t + spin_ns;
        if (t >= end && !atomic_load_explicit(awake, memory_order_relaxed))
            return false;
    }
}

/* Sleepers announce themselves before they look a last time, openers change the word before they look for sleepers;
 * both in one order for all (sequentially consistent), so one of the two sees the other. */
static void gate_wait(gate *g, unsigned old, const team *t)
{
    if (t->spin && spin_until_changed(g, old, &t->awake))
        return;
    while (!changed(g, old)) {
        atomic_fetch_add(&g->sleepers, 1);
        if (atomic_load(&g->word) == old)
            syscall(SYS_futex, &g->word, FUTEX_WAIT_PRIVATE, old, NULL, NULL, 0);
        atomic_fetch_sub(&g->sleepers, 1);
    }
}

static void gate_open(gate *g)
{
    atomic_fetch_add(&g->word, 1);
    if (atomic_load(&g->sleepers) > 0)
        syscall(SYS_futex, &g->word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Nobody can be at the next barrier before the phase changes, so the count is free to start anew just before that. */
void team_wait(void *p)
{
    team *t = p;
    if (t->size == 1)
        return;
    unsigned phase = atomic_load_explicit(&t->phase.word, memory_order_relaxed);
    if (atomic_fetch_add(&t->here, 1) == t->size - 1) {
        atomic_store_explicit(&t->here, 0, memory_order_relaxed);
        gate_open(&t->phase);
    } else {
        gate_wait(&t->phase, phase, t);
    }
}

void team_awake(team *t, bool on)
{
    atomic_store_explicit(&t->awake, on, memory_order_relaxed);
}

/* ---- floating-point mode ---- */

/* The usual mode, but what is denormal is zero, read and written: of others no processor is told. */
#if defined(__x86_64__)
enum { WORK_MODE = 0x1F80 | 0x8000 | 0x0040 }; /* MXCSR: usual, flush to zero, denormals are zero */

static unsigned float_mode(void)
{
    return _mm_getcsr();
}

static void set_float_mode(unsigned mode)
{
    _mm_setcsr(mode);
}
#elif defined(__aarch64__)
enum { WORK_MODE = 1 << 24 }; /* FPCR: flush to zero */

static unsigned float_mode(void)
{
    unsigned long mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return (unsigned)mode;
}

static void set_float_mode(unsigned mode)
{
    __asm__ volatile("msr fpcr, %0" : : "r"((unsigned long)mode));
}
#else
enum { WORK_MODE };

static unsigned float_mode(void)
{
    return WORK_MODE;
}

static void set_float_mode(unsigned mode)
{
    (void)mode;
}
#endif

/* ---- working ---- */

static void *worker(void *p)
{
    const member *m = p;
    team *t = m->team;
    set_float_mode(WORK_MODE);
    for (unsigned run = 0;; run++) {
        gate_wait(&t->start, run, t);
        if (t->stop)
            return NULL;
        t->work(t->arg, m->part, t->size);
        team_wait(t);
    }
}

static void work_together(team *t, team_work *work, void *arg)
{
    unsigned mode = float_mode();
    set_float_mode(WORK_MODE);
    t->work = work;
    t->arg = arg;
    if (t->size > 1)
        gate_open(&t->start);
    work(arg, 0, t->size);
    team_wait(t);
    set_float_mode(mode);
}

static bool pin_caller(int cpu, cpu_set_t *before)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    return sched_getaffinity(0, sizeof *before, before) == 0 && sched_setaffinity(0, sizeof one, &one) == 0;
}

/* A run of few numbers takes a fraction of a microsecond, which is what one call of the system takes. */
static bool is_forked(const team *t)
{
    return t->mark ? !*t->mark : getpid() != t->owner;
}

team_state team_do(team *t, team_work *work, void *arg)
{
    cpu_set_t before;
    if (is_forked(t))
        return TEAM_FORKED;
    if (atomic_exchange(&t->busy, true))
        return TEAM_BUSY;
    bool pinned = t->caller_cpu >= 0 && pin_caller(t->caller_cpu, &before);
    work_together(t, work, arg);
    if (pinned)
        sched_setaffinity(0, sizeof before, &before);
    atomic_store_explicit(&t->busy, false, memory_order_release);
    return TEAM_READY;
}

/* ---- making ---- */

/* Whether each member can have a processor of its own. */
static bool has_room(int threads, const int *os_cpu)
{
    cpu_set_t set;
    if (!os_cpu)
        return sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) >= threads;
    CPU_ZERO(&set);
    for (int i = 0; i < threads; i++)
        CPU_SET((size_t)os_cpu[i], &set);
    return CPU_COUNT(&set) == threads;
}

/* Workers take no signals: the host's handlers run on the host's threads. */
static int start_worker(member *m, int cpu)
{
    pthread_attr_t attr;
    sigset_t all, before;
    cpu_set_t one;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, stack_bytes);
    if (cpu >= 0) {
        CPU_ZERO(&one);
        CPU_SET((size_t)cpu, &one);
        pthread_attr_setaffinity_np(&attr, sizeof one, &one);
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&m->thread, &attr, worker, m);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return error;
}

static bool start_all(team *t, const int *os_cpu, team_reason *why)
{
    for (int i = 1; i < t->size; i++) {
        t->member[i] = (member){.team = t, .part = i};
        int error = start_worker(&t->member[i], os_cpu ? os_cpu[i] : -1);
        if (error == EINVAL && os_cpu)
            return *why = (team_reason){TEAM_NO_PROCESSOR, os_cpu[i], 0}, false;
        if (error)
            return *why = (team_reason){TEAM_NO_THREAD, i + 1, error}, false;
        t->started++;
    }
    cpu_set_t before;
    if (t->caller_cpu < 0)
        return true;
    if (!pin_caller(t->caller_cpu, &before))
        return *why = (team_reason){TEAM_NO_PROCESSOR, t->caller_cpu, 0}, false;
    sched_setaffinity(0, sizeof before, &before);
    return true;
}

static char *make_mark(void)
{
#ifdef MADV_WIPEONFORK
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *mark = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mark == MAP_FAILED)
        return NULL;
    if (madvise(mark, page, MADV_WIPEONFORK) == 0)
        return *mark = 1, mark;
    munmap(mark, page);
#endif
    return NULL;
}

static team *make(int threads, const int *os_cpu)
{
    team *t = aligned_alloc(LINES, sizeof *t);
    if (!t)
        return NULL;
    memset(t, 0, sizeof *t);
    t->size = threads;
    t->caller_cpu = os_cpu ? os_cpu[0] : -1;
    t->spin = has_room(threads, os_cpu);
    t->owner = getpid();
    t->mark = make_mark();
    t->member = calloc((size_t)threads, sizeof *t->member);
    if (t->member)
        return t;
    team_close(t);
    return NULL;
}

team *team_open(int threads, const int *os_cpu, team_reason *why)
{
    for (int i = 0; os_cpu && i < threads; i++)
        if (os_cpu[i] < 0 || os_cpu[i] >= CPU_SETSIZE)
            return *why = (team_reason){TEAM_NO_PROCESSOR, os_cpu[i], 0}, NULL;
    team *t = make(threads, os_cpu);
    if (!t)
        return *why = (team_reason){.trouble = TEAM_NO_MEMORY}, NULL;
    if (start_all(t, os_cpu, why))
        return t;
    team_close(t);
    return NULL;
}

/* In a forked child there is nobody to stop: only the memory is there. */
void team_close(team *t)
{
    if (!t)
        return;
    if (!is_forked(t) && t->started > 0) {
        t->stop = true;
        gate_open(&t->start);
        for (int i = 1; i <= t->started; i++)
            pthread_join(t->member[i].thread, NULL);
    }
    if (t->mark)
        munmap(t->mark, (size_t)sysconf(_SC_PAGESIZE));
    free(t->member);
    free(t);
}
