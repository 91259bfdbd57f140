#include "tests/scratch.h"

#include "graph/base/base.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

scratch scratch_make(void)
{
    scratch s;
    const char *base = getenv("TMPDIR");
    snprintf(s.path, sizeof s.path, "%s/tessera-test-XXXXXX", base && strlen(base) < 100 ? base : "/tmp");
    if (!mkdtemp(s.path)) {
        perror(s.path);
        exit(1);
    }
    return s;
}

void scratch_free(scratch *s)
{
    file_remove_tree(s->path);
}

const char *scratch_in(const scratch *s, const char *name)
{
    static char path[4][512];
    static int n;
    n = (n + 1) % 4;
    snprintf(path[n], sizeof path[n], "%s/%s", s->path, name);
    return path[n];
}

int scratch_count(const scratch *s)
{
    DIR *d = opendir(s->path);
    int n = -2; /* . and .. */
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}
