/* stop.c - the first signal asks the library to stop and leaves it a few seconds to clear away; a second one ends the
 * process at once. */
#include "cli/stop.h"
#include "tessera.h"

#include <signal.h>
#include <unistd.h>

enum { PATIENCE = 2 }; /* seconds for clearing away; a second signal waits no longer */
static volatile sig_atomic_t asked_by;

/* What is written is replaced by renaming, so that stopping at any point leaves whole files. */
void stop_now(int signal)
{
    const int first = asked_by ? asked_by : signal;
    if (asked_by || !ts_interrupt())
        _exit(128 + first);
    static const char word[] = "\r\033[Kstopping\n"; /* in place of the line of progress, if there is one */
    const size_t skip = isatty(STDERR_FILENO) ? 0 : 4;
    asked_by = signal;
    if (write(STDERR_FILENO, word + skip, sizeof word - 1 - skip) < 0)
        _exit(128 + signal);
    alarm(PATIENCE);
}

int stop_code(int code)
{
    return code == TS_INTERRUPTED && asked_by ? 128 + asked_by : code;
}
