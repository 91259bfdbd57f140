/* The system says so by SIGBUS. The handler calls only what a handler may: it looks the address up in /proc/self/maps,
 * whose lines are "from-to flags offset device inode   path". */
#include "cli/mapped.h"

#include "tessera.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 4600 };

static void put(const char *s, size_t n)
{
    while (n > 0) {
        const ssize_t done = write(STDERR_FILENO, s, n);
        if (done <= 0)
            return;
        s += done, n -= (size_t)done;
    }
}

static uintptr_t hex(const char **s)
{
    static const char digits[] = "0123456789abcdef";
    uintptr_t v = 0;
    for (const char *d; **s && (d = strchr(digits, **s)); (*s)++)
        v = v << 4 | (uintptr_t)(d - digits);
    return v;
}

static bool line_holds(const char *line, uintptr_t at)
{
    const uintptr_t from = hex(&line);
    if (*line++ != '-')
        return false;
    return from <= at && at < hex(&line);
}

/* The line of the mapping around `at`, terminated; false when there is none. */
static bool find_line(uintptr_t at, char line[LINE])
{
    char piece[1024];
    size_t n = 0;
    const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    for (ssize_t got; (got = read(fd, piece, sizeof piece)) > 0;)
        for (ssize_t i = 0; i < got; i++) {
            if (piece[i] != '\n') {
                line[n < LINE - 1 ? n++ : n] = piece[i];
                continue;
            }
            line[n] = 0, n = 0;
            if (line_holds(line, at))
                return close(fd), true;
        }
    close(fd);
    return false;
}

static void was_cut(int signal, siginfo_t *info, void *context)
{
    static const char cut[] = " was cut short while it was read\n  hint: leave it as it is while it is used; what was "
                              "saved before is whole\n";
    static char line[LINE]; /* too large for the stack of a thread; the process ends here */
    (void)signal, (void)context;
    const char *path = info->si_code == BUS_ADRERR && find_line((uintptr_t)info->si_addr, line) ? strchr(line, '/') : 0;
    put("error: ", 7);
    if (path)
        put("'", 1), put(path, strlen(path)), put("'", 1);
    else
        put("a file", 6);
    put(cut, sizeof cut - 1);
    _exit(TS_FILES);
}

void mapped_watch(void)
{
    struct sigaction now = {0};
    now.sa_sigaction = was_cut;
    now.sa_flags = SA_SIGINFO | SA_RESETHAND;
    sigaction(SIGBUS, &now, NULL);
}
