#include "tests/scratch.h"

#include <dirent.h>
#include <ftw.h>
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

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    return remove(path);
}

void scratch_remove(scratch *s)
{
    nftw(s->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
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
