/* graphviz.c - drawing is Graphviz' business: its program `dot` reads our text and writes the picture. Both are files
 * in memory, and the program ends with us: nothing is left behind, however this process ends. */
#include "cli/draw/dot.h"
#include "graph/base/base.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SVG_MOST = 256 << 20, NOT_EXECUTED = 127 }; /* bytes; what a shell answers for a program that is not there */

/* Between fork and exec: only calls that are safe there. */
static _Noreturn void become_dot(int in, int out, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_DFL), signal(SIGTERM, SIG_DFL), signal(SIGALRM, SIG_DFL);
    if (getppid() == parent && dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0)
        execlp("dot", "dot", "-Tsvg", (char *)NULL);
    _exit(NOT_EXECUTED);
}

/* Until the program has ended; its status. */
static int wait_for(pid_t child, int boxes, progress *p)
{
    char what[64];
    int status = 0;
    snprintf(what, sizeof what, "drawing %d boxes with Graphviz", boxes);
    for (;;) {
        const pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child)
            return status;
        if (ended < 0 && errno != EINTR)
            return -1;
        progress_step(p, what, 0, 0);
        nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL);
    }
}

static bool run_dot(int in, int out, int boxes, progress *p, ts_error *e)
{
    const pid_t parent = getpid(), child = fork();
    if (child == 0)
        become_dot(in, out, parent);
    if (child < 0)
        return err_set(e, TS_TOOLCHAIN, "show: cannot start dot: %s", strerror(errno));
    const int status = wait_for(child, boxes, p);
    if (status == 0)
        return true;
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_EXECUTED) {
        err_set(e, TS_TOOLCHAIN, "show: the program dot, which draws, is not installed");
        return err_hint(e, "install the package graphviz; --dot FILE writes the picture as text for it");
    }
    if (WIFSIGNALED(status))
        return err_set(e, TS_TOOLCHAIN, "show: dot was ended by signal %d", WTERMSIG(status));
    return err_set(e, TS_TOOLCHAIN, "show: dot failed with status %d", WEXITSTATUS(status));
}

static char *content(int fd, ts_error *e)
{
    mapping m = {0};
    char *svg = NULL;
    if (!file_map_fd(fd, "the picture", &m, e))
        return NULL;
    if (m.size > SVG_MOST)
        err_set(e, TS_UNSUPPORTED, "show: the picture has %zu bytes, at most %d expected", m.size, SVG_MOST);
    else if (!(svg = m.size ? strndup((const char *)m.at, m.size) : strdup("")))
        err_memory(e, m.size + 1, "a picture");
    file_unmap(&m);
    return svg;
}

char *dot_svg_text(const char *dot, int boxes, progress *p, ts_error *e)
{
    const int in = memfd_create("dot", MFD_CLOEXEC), out = memfd_create("svg", MFD_CLOEXEC);
    char *svg = NULL;
    if (in < 0 || out < 0 || !file_write(in, dot, strlen(dot)) || lseek(in, 0, SEEK_SET) != 0)
        err_memory(e, strlen(dot), "the text that Graphviz draws (%s)", strerror(errno));
    else if (run_dot(in, out, boxes, p, e))
        svg = content(out, e);
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    return svg;
}
