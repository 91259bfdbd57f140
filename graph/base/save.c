/* save.c - the only place that replaces files. A reader of a saved file sees the old bytes or the new ones, also after
 * a crash or a power failure. What is written goes to a temporary file beside the file, which takes its name when all
 * of it is on disk. */
#include "graph/base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HELD = 1 << 16 };

struct saver {
    arena mem;
    const char *path, *folder;
    char *temporary; /* NULL: path is a device or a pipe and written in place */
    int fd;
    int why;       /* errno of the first failure; 0: none */
    size_t held;   /* bytes that wait to be written */
    char *pending; /* these, in HELD bytes of room */
};

bool file_write(int fd, const void *p, size_t n)
{
    const char *at = p;
    while (n > 0) {
        ssize_t done = write(fd, at, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        at += done;
        n -= (size_t)done;
    }
    return true;
}

/* The folder that holds path, without a slash at its end except for the root. */
static char *folder_of(arena *mem, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return arena_string(mem, ".");
    int n = (int)(slash - path);
    return arena_format(mem, "%.*s", n > 0 ? n : 1, path);
}

static int open_temporary(arena *mem, const char *folder, char **name)
{
    /* The name is random, not derived from the file's: that may be as long as the system allows. */
    for (int attempt = 0; attempt < 16; attempt++) {
        uint64_t r;
        if (getrandom(&r, sizeof r, 0) != sizeof r)
            return -1;
        *name = arena_format(mem, "%s/.tessera-%016llx.tmp", folder, (unsigned long long)r);
        int fd = file_open(*name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

bool file_sync_holder(const char *path)
{
    ENDED_BY(arena_free) arena mem = {0};
    int fd = file_open(folder_of(&mem, path), O_RDONLY | O_DIRECTORY, 0);
    /* a folder that may be written but not read: the name stands, only later is it durable. EINVAL: this file system
     * does not sync folders */
    bool done = fd < 0 ? errno == EACCES : fsync(fd) == 0 || errno == EINVAL;
    int why = errno;
    if (fd >= 0)
        close(fd);
    errno = why;
    return done;
}

/* Of /dev itself, not of a folder there that anybody may write to: /dev/stdout, /dev/fd/1 */
static bool is_open_file(const char *path)
{
    return !strncmp(path, "/dev/fd/", 8) || (!strncmp(path, "/dev/", 5) && !strchr(path + 5, '/'));
}

/* Devices and pipes, and the links in /dev that stand for open files, are written in place, never replaced; appending
 * keeps what a redirected stdout already holds. Any other link is itself replaced: never followed, so that one planted
 * in an output folder leads nowhere. */
static bool is_special(const char *path)
{
    struct stat st;
    if (lstat(path, &st) != 0)
        return false;
    if (S_ISLNK(st.st_mode))
        return is_open_file(path);
    return !S_ISREG(st.st_mode);
}

static void note(saver *s, bool done)
{
    if (!done && s->why == 0)
        s->why = errno ? errno : EIO;
}

saver *saver_open(const char *path, size_t expected)
{
    saver *s = heap_array(1, sizeof *s);
    s->path = arena_string(&s->mem, path);
    s->folder = folder_of(&s->mem, path);
    s->pending = arena_get(&s->mem, HELD);
    s->fd = is_special(path) ? file_open(path, O_WRONLY | O_APPEND, 0)
                             : open_temporary(&s->mem, s->folder, &s->temporary);
    note(s, s->fd >= 0);
    if (s->fd < 0)
        s->temporary = NULL;
    /* A full disk is found before the writing; file systems that cannot reserve say so and are forgiven. */
    if (s->temporary && expected > 0 && fallocate(s->fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)expected) != 0)
        note(s, errno != ENOSPC && errno != EDQUOT && errno != EFBIG);
    return s;
}

static void flush(saver *s)
{
    if (s->why == 0)
        note(s, file_write(s->fd, s->pending, s->held));
    s->held = 0;
}

void saver_add(saver *s, const void *p, size_t n)
{
    if (s->why != 0 || n == 0)
        return;
    if (n > HELD - s->held)
        flush(s);
    if (n > HELD) {
        note(s, file_write(s->fd, p, n));
        return;
    }
    memcpy(s->pending + s->held, p, n);
    s->held += n;
}

void saver_drop(saver *s)
{
    if (s->temporary)
        unlink(s->temporary);
    if (s->fd >= 0)
        close(s->fd);
    arena_free(&s->mem);
    free(s);
}

/* A failed fsync is final: the kernel may have dropped the pages, so no second try. */
bool saver_close(saver *s, err *e)
{
    flush(s);
    if (s->why == 0 && s->temporary)
        note(s, fsync(s->fd) == 0);
    if (s->fd >= 0)
        note(s, close(s->fd) == 0);
    s->fd = -1;
    if (s->why == 0 && s->temporary) {
        const bool renamed = rename(s->temporary, s->path) == 0;
        note(s, renamed);
        if (renamed) {
            s->temporary = NULL;
            note(s, file_sync_holder(s->path));
        }
    }
    const bool ok = s->why == 0 || file_failed(e, "write", s->path, s->why);
    saver_drop(s);
    return ok;
}

bool file_save(const char *path, const void *p, size_t n, err *e)
{
    saver *s = saver_open(path, n);
    saver_add(s, p, n);
    return saver_close(s, e);
}
