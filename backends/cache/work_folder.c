/* work_folder.c - private folders under the system's place for temporary files. */
#include "backends/cache/work_folder.h"
#include "backends/cache/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char prefix[] = "tessera-";

bool work_folder_make(work_folder *s, const char *temporary, err *e)
{
    text path = {0};
    text_add(&path, "%s/%sXXXXXX", temporary, prefix);
    s->path = text_take(&path);
    if (mkdtemp(s->path))
        return true;
    int why = errno;
    free(s->path);
    s->path = NULL;
    file_failed(e, "make a folder in", temporary, why);
    return err_hint(e, "TMPDIR names another folder for temporary files");
}

char *work_folder_name(const work_folder *s, arena *mem, const char *name)
{
    return arena_format(mem, "%s/%s", s->path, name);
}

bool work_folder_write(const work_folder *s, const char *name, const void *p, size_t n, err *e)
{
    ENDED_BY(arena_free) arena mem = {0};
    const char *path = work_folder_name(s, &mem, name);
    bool ok = folder_write(AT_FDCWD, path, p, n, false);
    if (!ok)
        file_failed(e, "write", path, errno);
    return ok;
}

void work_folder_free(work_folder *s)
{
    if (s->path)
        folder_remove(AT_FDCWD, s->path);
    free(s->path);
    s->path = NULL;
}

/* Only a private folder of ours with our name's form is touched: the place is shared with everybody. */
static bool is_stale(int at, const char *name, time_t before)
{
    struct stat st;
    return strlen(name) == sizeof prefix - 1 + 6 && strncmp(name, prefix, sizeof prefix - 1) == 0 &&
           fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
           (st.st_mode & 0777) == 0700 && st.st_mtime < before;
}

void work_folder_sweep(const char *temporary, double seconds)
{
    DIR *folder = opendir(temporary);
    if (!folder)
        return;
    time_t before = time(NULL) - (time_t)seconds;
    for (const struct dirent *d = readdir(folder); d; d = readdir(folder))
        if (is_stale(dirfd(folder), d->d_name, before))
            folder_remove(dirfd(folder), d->d_name);
    closedir(folder);
}
