/* process.c - fork, exec and pipes; who does not go when told is asked by a signal, then killed with its group. */
#include "bench/process.h"
#include "backends/probe/clock.h"
#include "graph/base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* bytes of a line; what a shell answers for a program that is not there; bytes of a log */
enum { LONGEST_ANSWER = 256 << 20, NOT_EXECUTED = 127, TAIL = 600 };
static const double KIND_SECONDS = 2; /* for a process to go by itself when told, and again when asked by a signal */

/* Between fork and exec: only calls that are safe there. */
static _Noreturn void become(const process_spec *s, int in, int out, int log, pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    if (getppid() == parent && dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
        dup2(log, STDERR_FILENO) >= 0) {
        if (s->cpus)
            cpus_pin(s->cpus, 0, s->threads);
        signal(SIGPIPE, SIG_DFL);
        sigprocmask(SIG_SETMASK, &none, NULL);
        execvp(s->argv[0], (char *const *)s->argv);
    }
    _exit(NOT_EXECUTED);
}

static void close_all(const int *fd, int n)
{
    for (int i = 0; i < n; i++)
        if (fd[i] >= 0)
            close(fd[i]);
}

bool process_open(process *p, const process_spec *s, ts_error *e)
{
    int fd[5] = {-1, -1, -1, -1, -1}; /* command: read, write; answer: read, write; log */
    *p = (process){0};
    snprintf(p->log, sizeof p->log, "%s", s->log);
    fd[4] = open(s->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    pid_t parent = getpid();
    if (fd[4] < 0 || pipe2(fd, O_CLOEXEC) != 0 || pipe2(fd + 2, O_CLOEXEC) != 0 || (p->pid = fork()) < 0) {
        err_set(e, TS_FILES, "starting %s: %s", s->argv[0], strerror(errno));
        p->pid = 0;
        close_all(fd, 5);
        return false;
    }
    if (p->pid == 0)
        become(s, fd[0], fd[3], fd[4], parent);
    setpgid(p->pid, p->pid); /* also here: whoever comes first */
    p->to = fd[1];
    p->from = fd[2];
    close(fd[0]);
    close(fd[3]);
    close(fd[4]);
    return true;
}

static bool send_line(process *p, const char *text)
{
    const char *part[] = {text, "\n"};
    for (int i = 0; i < 2; i++) {
        size_t left = strlen(part[i]);
        while (left > 0) {
            ssize_t n = write(p->to, part[i], left);
            if (n < 0 && errno == EINTR)
                continue;
            if (n <= 0)
                return false;
            part[i] += n;
            left -= (size_t)n;
        }
    }
    return true;
}

/* The first whole line in the buffer, and how many bytes of it that is: a line that is not text may hold a 0. */
static char *next_line(process *p, size_t *used)
{
    char *end = p->length > 0 ? memchr(p->buffer, '\n', p->length) : NULL;
    if (!end)
        return NULL;
    *end = 0;
    *used = (size_t)(end - p->buffer) + 1;
    return p->buffer;
}

static void drop_line(process *p, size_t used)
{
    memmove(p->buffer, p->buffer + used, p->length - used);
    p->length -= used;
}

static bool receive(process *p)
{
    if (p->cap - p->length < 65536) {
        size_t cap = p->cap * 2 + 131072;
        char *bigger = cap <= LONGEST_ANSWER ? realloc(p->buffer, cap) : NULL;
        if (!bigger)
            return false;
        p->buffer = bigger;
        p->cap = cap;
    }
    ssize_t n = read(p->from, p->buffer + p->length, p->cap - p->length);
    if (n < 0 && errno == EINTR)
        return true;
    if (n <= 0)
        return false;
    p->length += (size_t)n;
    return true;
}

static void wake(process *p)
{
    if (p->halted)
        kill(-p->pid, SIGCONT);
    p->halted = false;
}

/* Waits for something to read until `deadline` (clock_ns). */
static answer wait_for_text(process *p, int interrupt, int64_t deadline)
{
    struct pollfd fd[2] = {{p->from, POLLIN, 0}, {interrupt, POLLIN, 0}};
    for (;;) {
        int64_t left = (deadline - clock_ns()) / 1000000;
        int n = poll(fd, interrupt >= 0 ? 2 : 1, left < 0 ? 0 : left > 1000000 ? 1000000 : (int)left + 1);
        if (n > 0 && interrupt >= 0 && fd[1].revents != 0)
            return INTERRUPTED;
        if (n > 0)
            return ANSWERED;
        if (n == 0 && clock_ns() >= deadline)
            return TOO_LATE;
        if (n < 0 && errno != EINTR)
            return DIED;
    }
}

answer process_ask(process *p, const question *q, const char **line)
{
    int64_t deadline = clock_ns() + (int64_t)(q->timeout * 1e9);
    *line = "";
    if (p->pid == 0)
        return DIED;
    if (p->length > 0) /* the last answer, which its asker has read */
        p->length = 0;
    wake(p);
    if (!send_line(p, q->text))
        return DIED;
    for (;;) {
        size_t used = 0;
        char *got = next_line(p, &used);
        if (got && strncmp(got, "PROGRESS ", 9) == 0) {
            if (q->aside)
                q->aside(q->user, got + 9);
            drop_line(p, used);
            continue;
        }
        if (got) {
            *line = got;
            return ANSWERED;
        }
        answer a = wait_for_text(p, q->interrupt, deadline);
        if (a != ANSWERED)
            return a;
        if (!receive(p))
            return DIED;
    }
}

void process_halt(process *p)
{
    siginfo_t info;
    if (p->pid == 0 || p->halted || kill(-p->pid, SIGSTOP) != 0)
        return;
    /* Whether it stands still or has died: its end is seen, with its cause, by who asks next. WNOWAIT leaves
     * that to them. */
    waitid(P_PID, (id_t)p->pid, &info, WSTOPPED | WEXITED | WNOWAIT);
    p->halted = true;
}

double process_peak_bytes(const process *p)
{
    char path[64], line[256];
    double kib = NAN;
    snprintf(path, sizeof path, "/proc/%d/status", (int)p->pid);
    FILE *f = p->pid > 0 ? fopen(path, "r") : NULL;
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "VmHWM:", 6) == 0)
            kib = strtod(line + 6, NULL);
    if (f)
        fclose(f);
    return kib * 1024;
}

void last_words(int fd, char *out, size_t size)
{
    const off_t end = lseek(fd, 0, SEEK_END), from = end > (off_t)size - 1 ? end - (off_t)size + 1 : 0;
    ssize_t n = pread(fd, out, size - 1, from);
    out[n > 0 ? n : 0] = 0;
    for (char *c = out; *c; c++)
        *c = *c == '\n' ? ' ' : *c;
    while (n > 0 && out[n - 1] == ' ')
        out[--n] = 0;
}

static void describe(const process *p, int status, char *why, size_t size)
{
    char tail[TAIL + 1] = "";
    const int fd = open(p->log, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        last_words(fd, tail, sizeof tail), close(fd);
    const char *between = tail[0] != 0 ? ": " : "";
    if (WIFSIGNALED(status))
        snprintf(why, size, "killed by signal %d (%s)%s%s", WTERMSIG(status), strsignal(WTERMSIG(status)), between,
                 tail);
    else if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_EXECUTED)
        snprintf(why, size, "cannot be executed%s%s", between, tail);
    else
        snprintf(why, size, "ended with code %d%s%s", WIFEXITED(status) ? WEXITSTATUS(status) : -1, between, tail);
}

/* Whether it has gone, waiting at most so many seconds. It stays a zombie: its process group's number is
 * not given away. */
static bool gone(pid_t pid, double seconds)
{
    int64_t deadline = clock_ns() + (int64_t)(seconds * 1e9);
    for (;;) {
        siginfo_t info = {0};
        int got = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);
        if ((got == 0 && info.si_pid == pid) || (got < 0 && errno != EINTR))
            return true;
        if (clock_ns() >= deadline)
            return false;
        usleep(1000);
    }
}

void process_close(process *p, char *why, size_t size)
{
    int status = 0;
    if (p->pid == 0)
        return;
    wake(p);
    send_line(p, "quit");
    close(p->to);
    if (!gone(p->pid, KIND_SECONDS)) {
        kill(p->pid, SIGTERM); /* it compiles: it ends what it started and clears away */
        gone(p->pid, KIND_SECONDS);
    }
    kill(-p->pid, SIGKILL); /* with whatever it may have started; no effect on what has ended */
    waitpid(p->pid, &status, 0);
    close(p->from);
    if (why)
        describe(p, status, why, size);
    free(p->buffer);
    unlink(p->log);
    *p = (process){0};
}
