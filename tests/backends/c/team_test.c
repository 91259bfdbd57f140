/* Teams of every size, also larger than the machine: each barrier holds, the caller gets back what it had. Clean under
 * the thread sanitizer. */
#include "backends/c/team.h"
#include "tests/check.h"

#include <fenv.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { MOST = 8 };

typedef struct rounds {
    team *team;
    int n;
    struct {
        long value;
        char apart[120];
    } slot[MOST]; /* written by one member, read by all after the barrier */
    int wrong[MOST];
} rounds;

/* Each round everybody writes, meets, reads all the others, meets. */
static void meet(void *arg, int part, int parts)
{
    rounds *r = arg;
    for (int i = 1; i <= r->n; i++) {
        r->slot[part].value = (long)i * (part + 1);
        team_wait(r->team);
        for (int k = 0; k < parts; k++)
            r->wrong[part] += r->slot[k].value != (long)i * (k + 1);
        team_wait(r->team);
    }
}

static void test_barriers(int threads, const int *cpus, int n)
{
    err e = {0};
    rounds r = {.team = team_make(threads, cpus, &e), .n = n};
    if (!CHECK(r.team != NULL)) {
        fprintf(stderr, "  %s\n", e.text);
        return;
    }
    CHECK(team_run(r.team, meet, &r, &e));
    for (int k = 0; k < threads; k++)
        CHECK(r.wrong[k] == 0 && r.slot[k].value == (long)n * (k + 1));
    team_close(r.team);
}

static void count(void *arg, int part, int parts)
{
    int *seen = arg;
    seen[part] += parts;
}

/* Many short runs, some after the workers have gone to sleep. */
static void test_runs(int threads, int n)
{
    err e = {0};
    int seen[MOST] = {0};
    team *t = team_make(threads, NULL, &e);
    for (int i = 0; i < n; i++) {
        CHECK(team_run(t, count, seen, &e));
        if (i % 500 == 0)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    for (int k = 0; k < threads; k++)
        CHECK(seen[k] == n * threads);
    team_close(t);
}

typedef struct modes {
    unsigned mode[MOST];
    int cpus[MOST], cpu[MOST], blocked[MOST];
    float product[MOST];
    volatile float small;
} modes;

static void look(void *arg, int part, int parts)
{
    modes *m = arg;
    cpu_set_t set;
    sigset_t mask;
    (void)parts;
#if defined(__x86_64__)
    m->mode[part] = _mm_getcsr() & 0xFFC0;
#endif
    m->product[part] = m->small * 0.5f;
    sched_getaffinity(0, sizeof set, &set);
    m->cpus[part] = CPU_COUNT(&set);
    m->cpu[part] = sched_getcpu();
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    m->blocked[part] = sigismember(&mask, SIGINT);
}

static int allowed(int *cpus)
{
    cpu_set_t set;
    int n = 0;
    sched_getaffinity(0, sizeof set, &set);
    for (int c = 0; c < CPU_SETSIZE && n < MOST; c++)
        if (CPU_ISSET(c, &set))
            cpus[n++] = c;
    return n;
}

/* Same mode and own processor for all while they work; the caller's rounding, affinity and signals come back. */
static void test_state(int most)
{
    err e = {0};
    int cpus[MOST], n = allowed(cpus) < most ? 1 : most;
    modes m = {.small = 1.2e-38f};
    cpu_set_t before, after;
    sched_getaffinity(0, sizeof before, &before);
    fesetround(FE_UPWARD);
#if defined(__x86_64__)
    unsigned caller = _mm_getcsr();
#endif
    team *t = team_make(n, cpus, &e);
    CHECK(t && team_run(t, look, &m, &e));
    CHECK(fegetround() == FE_UPWARD);
    sched_getaffinity(0, sizeof after, &after);
    CHECK(CPU_EQUAL(&before, &after));
    for (int k = 0; k < n; k++) {
        CHECK(m.cpus[k] == 1 && m.cpu[k] == cpus[k]);
        CHECK(m.blocked[k] == (k > 0));
#if defined(__x86_64__)
        CHECK(m.mode[k] == (0x1F80 | 0x8040));
#endif
#if defined(__x86_64__) || defined(__aarch64__)
        CHECK(m.product[k] == 0);
#endif
    }
#if defined(__x86_64__)
    CHECK(_mm_getcsr() == caller);
#endif
    CHECK(m.small * 0.5f != 0);
    fesetround(FE_TONEAREST);
    team_close(t);
}

static void again(void *arg, int part, int parts)
{
    err e = {0};
    (void)parts;
    if (part == 0)
        CHECK(!team_run(arg, again, arg, &e) && strstr(e.text, "already running"));
}

static void test_misuse(void)
{
    err e = {0};
    const int none[] = {CPU_SETSIZE - 1, CPU_SETSIZE - 2};
    CHECK(!team_make(0, NULL, &e) && e.code == TS_USAGE && strstr(e.text, "0 threads"));
    e = (err){0};
    CHECK(!team_make(TS_MAX_THREADS + 1, NULL, &e) && e.code == TS_USAGE);
    e = (err){0};
    CHECK(!team_make(1, none, &e) && e.code == TS_DEVICE && strstr(e.text, "processor 1023"));
    e = (err){0};
    CHECK(!team_make(2, none, &e) && e.code == TS_DEVICE && strstr(e.text, "processor 1022"));
    e = (err){0};
    team *t = team_make(2, NULL, &e);
    CHECK(team_run(t, again, t, &e));
    int status, seen[MOST] = {0};
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        bool ran = team_run(t, count, seen, &e);
        team_close(t);
        _exit(ran || !strstr(e.text, "fork"));
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    CHECK(team_run(t, count, seen, &e) && seen[1] == 2);
    team_close(t);
}

static void test_many_teams(void)
{
    err e = {0};
    for (int i = 0; i < 300; i++) {
        int seen[MOST] = {0};
        team *t = team_make(1 + i % 4, NULL, &e);
        if (i % 3)
            CHECK(team_run(t, count, seen, &e) && seen[i % 4] == 1 + i % 4);
        team_close(t);
    }
}

int main(void)
{
    int cpus[MOST], n = allowed(cpus), same[MOST] = {0};
    for (int i = 0; i < MOST; i++)
        same[i] = cpus[0];
    test_barriers(1, NULL, 100000);
    test_barriers(2, n > 1 ? cpus : NULL, 50000);
    test_barriers(2, NULL, 10000);
    test_barriers(3, NULL, 5000);
    test_barriers(5, NULL, 5000);
    test_barriers(3, same, 2000); /* all on one processor */
    test_runs(1, 1000);
    test_runs(2, 5000);
    test_runs(5, 1000);
    test_state(1), test_state(2);
    test_misuse();
    test_many_teams();
    return check_done();
}
