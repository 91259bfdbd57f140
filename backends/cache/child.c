/* child.c - posix_spawn, one poll loop for any number of children, and the clean-up. */
#include "backends/cache/child.h"
#include "backends/interrupt.h"
#include "graph/base/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const double SLEEPS = 0.002; /* the share of a processor that is none */

/* Moves a descriptor out of the way of the three standard ones, which the host may have closed. */
static int above_standard(int fd)
{
    if (fd < 0 || fd > 2)
        return fd;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    close(fd);
    return high;
}

static void set_limit(pid_t pid, __rlimit_resource_t which, int64_t value)
{
    struct rlimit limit;
    if (prlimit(pid, which, NULL, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max < (rlim_t)value ? limit.rlim_max : (rlim_t)value; /* RLIM_INFINITY is the largest */
    prlimit(pid, which, &limit, NULL);
}

/* The child may run for some microseconds before these hold; its wall time is limited in any case. */
static void set_limits(pid_t pid, const child_limits *l)
{
    set_limit(pid, RLIMIT_CPU, l->cpu);
    set_limit(pid, RLIMIT_AS, l->memory);
    set_limit(pid, RLIMIT_FSIZE, l->file);
    set_limit(pid, RLIMIT_CORE, 0);
}

/* errno value; in, out: descriptors for the standard streams. */
static int spawn(pid_t *pid, const child_job *job, int in, int out)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attr);
    posix_spawn_file_actions_adddup2(&files, in, 0);
    posix_spawn_file_actions_adddup2(&files, out, 1);
    posix_spawn_file_actions_adddup2(&files, out, 2);
#ifdef __GLIBC_PREREQ
#if __GLIBC_PREREQ(2, 34)
    posix_spawn_file_actions_addclosefrom_np(&files, 3); /* older ones pass on what the host opened without CLOEXEC */
#endif
#endif
    posix_spawnattr_setpgroup(&attr, 0);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &all);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    /* posix_spawn takes pointers to characters that it does not change, for the sake of old callers. */
    char **argv = (char **)(uintptr_t)job->argv, **env = (char **)(uintptr_t)job->env;
    int why = posix_spawn(pid, argv[0], &files, &attr, argv, env);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    return why;
}

bool child_start(child *c, const child_job *job, err *e)
{
    *c = (child){.pidfd = -1, .pipe = -1};
    int ends[2] = {-1, -1}, why = 0;
    int in = above_standard(open(job->input ? job->input : "/dev/null", O_RDONLY | O_CLOEXEC));
    if (in < 0 || pipe2(ends, O_CLOEXEC) != 0)
        why = errno;
    ends[0] = above_standard(ends[0]);
    ends[1] = above_standard(ends[1]);
    if (!why && (ends[0] < 0 || ends[1] < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0))
        why = errno;
    if (!why)
        why = spawn(&c->pid, job, in, ends[1]);
    if (in >= 0)
        close(in);
    if (ends[1] >= 0)
        close(ends[1]);
    if (why) {
        char words[128];
        if (ends[0] >= 0)
            close(ends[0]);
        c->pid = 0;
        return err_set(e, TS_TOOLCHAIN, "cannot start '%s': %s", job->argv[0], strerror_r(why, words, sizeof words));
    }
    set_limits(c->pid, job->limits);
    c->pipe = ends[0];
    c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0); /* Linux 5.3; older ones are asked every few milliseconds */
    c->deadline = seconds_now() + job->limits->wall;
    c->idle = job->limits->idle, c->look = seconds_now() + c->idle;
    return true;
}

/* Takes what is there without waiting. More than the text kept is read and dropped, so that the child never blocks. */
static void child_read(child *c)
{
    char piece[16384];
    while (c->pipe >= 0) {
        ssize_t n = read(c->pipe, piece, sizeof piece);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0) {
            close(c->pipe);
            c->pipe = -1;
            return;
        }
        size_t room = CHILD_TEXT - c->said.length;
        text_bytes(&c->said, piece, (size_t)n < room ? (size_t)n : room);
        if (seconds_now() >= c->deadline)
            return; /* a child that prints without end does not hold us here */
    }
}

/* The leader's process number stays taken until waitpid, so the group that it names is still ours to kill. */
static void child_reap(child *c)
{
    kill(-c->pid, SIGKILL);
    struct rusage u = {0};
    while (wait4(c->pid, &c->status, 0, &u) < 0)
        if (errno != EINTR) {
            c->status = -1;
            break;
        }
    c->used = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
              1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
    c->pid = 0;
    child_read(c);
    if (c->pipe >= 0)
        close(c->pipe);
    if (c->pidfd >= 0)
        close(c->pidfd);
    c->pipe = c->pidfd = -1;
}

/* Seconds of processors that its group has used; negative where the system does not tell. */
static double group_used(const child *c)
{
    DIR *all = opendir("/proc");
    double sum = all ? 0 : -1;
    for (const struct dirent *d; all && (d = readdir(all));) {
        char path[300];
        long group;
        unsigned long own[4]; /* clock ticks: in itself and in the system, and of those that it waited for */
        snprintf(path, sizeof path, "/proc/%s/stat", d->d_name);
        FILE *f = d->d_name[0] >= '1' && d->d_name[0] <= '9' ? fopen(path, "re") : NULL;
        if (f &&
            fscanf(f, "%*d (%*[^)]) %*c %*d %ld %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu", &group, &own[0],
                   &own[1], &own[2], &own[3]) == 5 &&
            group == c->pid)
            sum += (double)(own[0] + own[1] + own[2] + own[3]) / (double)sysconf(_SC_CLK_TCK);
        if (f)
            fclose(f);
    }
    if (all)
        closedir(all);
    return sum;
}

/* On a busy machine a compiler may wait for minutes and still go on: what uses no processor at all does not. Who looks
 * far too late was suspended himself, and maybe the child with him: nothing follows from that span. */
static bool does_nothing(child *c)
{
    const double late = seconds_now() - c->look;
    if (c->idle <= 0 || late < 0)
        return false;
    const double before = c->used;
    c->used = group_used(c), c->look = seconds_now() + c->idle;
    return c->asleep = late < c->idle && c->used >= 0 && c->used - before < SLEEPS * c->idle;
}

static bool child_ended(child *c)
{
    siginfo_t info = {0};
    if (!c->late && (interrupt_asked() || seconds_now() >= c->deadline || does_nothing(c))) {
        c->late = true;
        kill(-c->pid, SIGKILL);
    }
    if (waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0)
        return false;
    child_reap(c);
    return true;
}

/* Sleeps until something of the running ones is to be seen: text, an end, a deadline; or for a moment. */
static void watch(child *set, int n)
{
    struct pollfd fd[2 * CHILD_MOST];
    double until = seconds_now() + INTERRUPT_SEEN;
    int m = 0;
    for (int i = 0; i < n; i++) {
        const child *c = &set[i];
        if (!c->pid)
            continue;
        double next = c->pidfd < 0 || c->late                ? seconds_now() + 0.005
                      : c->idle > 0 && c->look < c->deadline ? c->look
                                                             : c->deadline;
        until = next < until ? next : until;
        if (c->pipe >= 0)
            fd[m++] = (struct pollfd){.fd = c->pipe, .events = POLLIN};
        if (c->pidfd >= 0)
            fd[m++] = (struct pollfd){.fd = c->pidfd, .events = POLLIN};
    }
    double left = until - seconds_now();
    poll(fd, (nfds_t)m, left > 0 ? (int)(left * 1e3) + 1 : 0);
    for (int i = 0; i < n; i++)
        if (set[i].pid)
            child_read(&set[i]);
}

int child_wait(child *set, int n)
{
    int ended;
    do
        ended = child_wait_within(set, n, INTERRUPT_SEEN);
    while (ended == CHILD_NONE_YET);
    return ended;
}

int child_wait_within(child *set, int n, double seconds)
{
    const double until = seconds_now() + seconds;
    MUST(n <= CHILD_MOST);
    for (;;) {
        int running = 0;
        for (int i = 0; i < n; i++) {
            if (!set[i].pid)
                continue;
            running++;
            if (child_ended(&set[i]))
                return i;
        }
        if (!running || seconds_now() >= until)
            return running ? CHILD_NONE_YET : -1;
        watch(set, n);
    }
}

void child_free(child *set, int n)
{
    for (int i = 0; i < n; i++) {
        if (set[i].pid)
            child_reap(&set[i]);
        text_free(&set[i].said);
    }
}

bool child_succeeded(const child *c)
{
    return !c->late && c->status != -1 && WIFEXITED(c->status) && WEXITSTATUS(c->status) == 0;
}

/* A driver whose compiler was ended by its limit fails of its own accord. The clock of the limit is not the one that
 * tells the time used: in virtual machines they are far from each other. */
bool child_overran(const child *c, const child_limits *limits)
{
    const bool limited = c->status != -1 && WIFSIGNALED(c->status) && WTERMSIG(c->status) == SIGXCPU;
    return c->late || limited || (!child_succeeded(c) && c->used >= (double)limits->cpu / 2);
}

void child_fate(const child *c, const child_limits *limits, text *out)
{
    if (c->asleep)
        text_add(out, "did nothing for %g s and was stopped", limits->idle);
    else if (c->late)
        text_add(out, "ran for more than %g s and was stopped", limits->wall);
    else if (c->status == -1)
        text_add(out, "ended, but its status is unknown because this program ignores SIGCHLD");
    else if (WIFEXITED(c->status))
        text_add(out, "exited with status %d", WEXITSTATUS(c->status));
    else
        text_add(out, "was killed by signal %d", WTERMSIG(c->status));
    if (c->status != -1 && !c->late && WIFSIGNALED(c->status)) {
        int signal = WTERMSIG(c->status);
        if (signal == SIGKILL)
            text_add(out, " (out of memory?)");
        if (signal == SIGXCPU)
            text_add(out, " (limit of %lld s of processor time)", (long long)limits->cpu);
        if (signal == SIGXFSZ)
            text_add(out, " (limit of %lld bytes for a file)", (long long)limits->file);
    }
}
