/* ready.c - whether a target runs anything, asked in a process of its own: cases run in children of this one, and a
 * device that their parent has opened, with its threads, does not follow them there. */
#include "cli/cases/cases.h"
#include "graph/base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool evaluate(const ts_options *o, ts_error *e)
{
    ts_graph *g = ts_graph_make();
    const ts_tensor one = ts_weight(g, "one", TS_F32, 0, NULL, 1, 0, 0);
    ENDED_BY(ts_array_free) ts_array y = {0};
    const bool ok = ts_eval(1, &one, 0, NULL, o, &y, e);
    ts_graph_free(g);
    return ok;
}

_Noreturn static void answer(const ts_options *o, int to)
{
    ts_error e = {0};
    evaluate(o, &e);
    _exit(!file_write(to, &e, sizeof e));
}

static bool receive(int from, ts_error *said)
{
    size_t got = 0;
    ssize_t n;
    while (got < sizeof *said && (n = read(from, (char *)said + got, sizeof *said - got)) > 0)
        got += (size_t)n;
    return got == sizeof *said;
}

bool cases_ready(const ts_options *o, ts_error *e)
{
    ts_error said = {0};
    int ends[2], status = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return err_set(e, TS_FILES, "no descriptor for another process: %s", strerror(errno));
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        answer(o, ends[1]);
    close(ends[1]);
    const bool whole = child > 0 && receive(ends[0], &said);
    close(ends[0]);
    if (child < 0)
        return err_set(e, TS_MEMORY, "cannot start another process: %s", strerror(errno));
    waitpid(child, &status, 0);
    if (!whole)
        return err_set(e, TS_BUG, "the target%s%s ended a process by signal %d over one number", o->target ? " " : "",
                       o->target ? o->target : "", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    if (said.code != TS_OK)
        *e = said;
    return said.code == TS_OK;
}
