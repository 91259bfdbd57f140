/* graphviz.c - drawing is Graphviz' business: its program `dot` is run on a file of ours. */
#include "cli/draw/dot.h"
#include "graph/base/err.h"
#include "cli/outfile.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SVG_MOST = 256 << 20 };
extern char **environ;

static bool spawn(const char *from, const char *to, ts_error *e)
{
    char *const argv[] = {(char[]){"dot"},       (char[]){"-Tsvg"},       (char[]){"-o"},
                          (char *)(uintptr_t)to, (char *)(uintptr_t)from, NULL};
    pid_t child;
    int status = 0;
    const int why = posix_spawnp(&child, argv[0], NULL, NULL, argv, environ);
    if (why == ENOENT) {
        err_set(e, TS_TOOLCHAIN, "show: the program dot, which draws, is not installed");
        return err_hint(e, "install graphviz; --dot FILE writes the picture as text for it");
    }
    if (why != 0)
        return err_set(e, TS_TOOLCHAIN, "show: cannot start dot: %s", strerror(why));
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return status == 0 || err_set(e, TS_TOOLCHAIN, "show: dot failed with status %d", status);
}

char *dot_svg(const char *dot, ts_error *e)
{
    char folder[] = "/tmp/tessera-XXXXXX", from[64], to[64], *out = NULL;
    if (!mkdtemp(folder)) {
        err_set(e, TS_FILES, "show: cannot make a folder in /tmp: %s", strerror(errno));
        return NULL;
    }
    snprintf(from, sizeof from, "%s/model.dot", folder);
    snprintf(to, sizeof to, "%s/model.svg", folder);
    if (outfile_write(from, dot, e) && spawn(from, to, e))
        out = outfile_read(to, SVG_MOST, e);
    unlink(from);
    unlink(to);
    rmdir(folder);
    return out;
}
