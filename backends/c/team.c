/* team.c - why a team cannot be had, or cannot run. */
#include "backends/c/team.h"

#include <string.h>

static bool cannot(const team_reason *why, int threads, err *e)
{
    char words[128];
    if (why->trouble == TEAM_NO_PROCESSOR)
        err_set(e, TS_DEVICE, "processor %d is not available to this process", why->number);
    else if (why->trouble == TEAM_NO_THREAD)
        err_set(e, TS_MEMORY, "cannot start thread %d of %d: %s", why->number, threads,
                strerror_r(why->error, words, sizeof words));
    else
        err_set(e, TS_MEMORY, "no memory for %d threads", threads);
    return err_hint(e, "use fewer threads with --threads");
}

team *team_make(int threads, const int *os_cpu, err *e)
{
    team_reason why;
    if (threads < 1 || threads > TS_MAX_THREADS) {
        err_set(e, TS_USAGE, "%d threads: the number must be 1 to %d", threads, TS_MAX_THREADS);
        return err_hint(e, "leave --threads out to use every core"), NULL;
    }
    for (int i = 0; os_cpu && i < threads; i++)
        if (os_cpu[i] < 0)
            return err_set(e, TS_DEVICE, "there is no processor %d", os_cpu[i]), NULL;
    team *t = team_open(threads, os_cpu, &why);
    if (!t)
        cannot(&why, threads, e);
    return t;
}

bool team_run(team *t, team_work *work, void *arg, err *e)
{
    switch (team_do(t, work, arg)) {
    case TEAM_READY: return true;
    case TEAM_BUSY: return err_set(e, TS_USAGE, "a plan is already running; it can be used by one thread at a time");
    case TEAM_FORKED: break;
    }
    return err_set(e, TS_USAGE, "a plan made before a fork cannot run in the child: its threads stayed behind");
}
