/* pool.c - cases in processes of their own: what crashes or hangs ends alone. */
#include "cli/cases/cases.h"
#include "bench/process.h"
#include "graph/base/clock.h"
#include "graph/base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_JOBS = 64 }; /* processes at a time */

typedef struct slot {
    pid_t pid; /* 0: free */
    int which; /* case */
    int from;  /* an outcome comes here */
    int said;  /* what it wrote to stderr */
    double begun;
    size_t got;
    outcome out;
} slot;

typedef struct pool {
    const cases *c;
    const case_options *w;
    slot slot[MOST_JOBS];
    int next, finished;
} pool;

_Noreturn static void work(const pool *p, const slot *s, int to)
{
    outcome out = {0};
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGABRT, SIG_DFL);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    dup2(s->said, STDERR_FILENO);
    case_run(&p->c->all[s->which], p->w, &out);
    _exit(!file_write(to, &out, sizeof out));
}

static bool start(pool *p, slot *s, ts_error *e)
{
    int ends[2];
    *s = (slot){.which = p->next++, .begun = seconds_now(), .said = memfd_create("stderr", MFD_CLOEXEC)};
    if (s->said < 0 || pipe2(ends, O_CLOEXEC) != 0)
        return err_set(e, TS_FILES, "no descriptor for another process: %s", strerror(errno));
    fflush(NULL);
    s->pid = fork();
    if (s->pid == 0)
        work(p, s, ends[1]);
    close(ends[1]);
    s->from = ends[0];
    if (s->pid < 0) {
        s->pid = 0;
        return err_set(e, TS_MEMORY, "cannot start another process: %s", strerror(errno));
    }
    setpgid(s->pid, s->pid); /* whoever of the two comes first */
    return true;
}

static void finish(pool *p, slot *s, bool late, outcome *all)
{
    int status = 0;
    if (late)
        kill(-s->pid, SIGKILL);
    waitpid(s->pid, &status, 0);
    outcome *out = &all[s->which];
    *out = s->out;
    if (late || s->got != sizeof s->out) {
        char words[400];
        last_words(s->said, words, sizeof words);
        *out = (outcome){.code = late ? TS_TIMEOUT : TS_BUG};
        if (late)
            snprintf(out->reason, sizeof out->reason, "not finished after %g s", p->w->seconds);
        else if (WIFSIGNALED(status))
            snprintf(out->reason, sizeof out->reason, "ended by signal %d: %s", WTERMSIG(status), words);
        else
            snprintf(out->reason, sizeof out->reason, "ended with status %d: %s", WEXITSTATUS(status), words);
    }
    out->seconds = seconds_now() - s->begun;
    close(s->from);
    close(s->said);
    s->pid = 0;
    p->finished++;
}

/* Takes what came; true when nothing more will. */
static bool receive(slot *s)
{
    char *to = (char *)&s->out;
    const size_t room = sizeof s->out - s->got;
    const ssize_t n = read(s->from, to + s->got, room);
    if (n > 0)
        s->got += (size_t)n;
    return n <= 0 || s->got == sizeof s->out;
}

static void wait_for_some(pool *p, int jobs, outcome *all)
{
    struct pollfd fd[MOST_JOBS];
    double nearest = p->w->seconds;
    for (int i = 0; i < jobs; i++) {
        const slot *s = &p->slot[i];
        fd[i] = (struct pollfd){.fd = s->pid ? s->from : -1, .events = POLLIN};
        const double left = s->begun + p->w->seconds - seconds_now();
        if (s->pid && left < nearest)
            nearest = left > 0 ? left : 0;
    }
    if (poll(fd, (nfds_t)jobs, (int)(nearest * 1000) + 1) < 0)
        return;
    for (int i = 0; i < jobs; i++) {
        slot *s = &p->slot[i];
        const bool late = s->pid && seconds_now() - s->begun > p->w->seconds;
        if (late || (s->pid && fd[i].revents && receive(s)))
            finish(p, s, late, all);
    }
}

static void stop_all(pool *p, int jobs, outcome *all)
{
    for (int i = 0; i < jobs; i++)
        if (p->slot[i].pid)
            finish(p, &p->slot[i], true, all);
}

bool cases_run(const cases *c, const case_options *w, outcome *out, void (*done)(void *user, int n, const char *name),
               void *user, ts_error *e)
{
    pool p = {.c = c, .w = w};
    const int jobs = w->jobs < MOST_JOBS ? w->jobs : MOST_JOBS;
    bool ok = true;
    while (ok && p.finished < c->n) {
        for (int i = 0; ok && i < jobs && p.next < c->n; i++)
            ok = p.slot[i].pid || start(&p, &p.slot[i], e);
        if (ok)
            wait_for_some(&p, jobs, out);
        done(user, p.finished, p.next < c->n ? c->all[p.next].name : "");
    }
    stop_all(&p, jobs, out);
    return ok;
}
