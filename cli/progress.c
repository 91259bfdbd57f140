/* progress.c - how far long work is: a line that rewrites itself in a terminal, a plain line every ten seconds
 * elsewhere. */
#include "cli/console.h"
#include "graph/base/clock.h"

static const double live_every = 0.1, plain_every = 10; /* seconds between lines */

progress progress_open(const console *c)
{
    double t = seconds_now();
    return (progress){.console = c, .begun = t, .shown = t};
}

void progress_step(void *user, const char *what, int done, int total)
{
    progress *p = user;
    if (p->console->quiet)
        return;
    double t = seconds_now();
    if (t - p->shown < (p->console->live ? live_every : plain_every))
        return;
    p->shown = t;
    if (p->console->live)
        fputs("\r\033[K", stderr);
    put_safe(stderr, what);
    if (total > 0)
        fprintf(stderr, " (%d of %d)", done, total);
    fprintf(stderr, ", %.0f s", t - p->begun);
    if (p->console->live)
        fflush(stderr);
    else
        fputc('\n', stderr);
    p->open = p->console->live;
}

void progress_close(progress *p)
{
    if (p->open)
        fputs("\r\033[K", stderr);
    p->open = false;
}
