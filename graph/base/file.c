/* file.c - the only place that opens, maps and replaces files. A reader of a saved file sees the old bytes or the new
 * ones, also after a crash or a power failure. Every descriptor is closed on exec. */
#include "graph/base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fail(err *e, const char *doing, const char *path, int why)
{
    char words[128];
    return err_set(e, TS_FILES, "cannot %s '%s': %s", doing, path, strerror_r(why, words, sizeof words));
}

static int open_again(const char *path, int flags, mode_t mode)
{
    int fd;
    do
        fd = open(path, flags | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

bool file_map_fd(int fd, const char *path, mapping *out, err *e)
{
    *out = (mapping){0};
    struct stat st;
    if (fstat(fd, &st) != 0)
        return fail(e, "read", path, errno);
    if (!S_ISREG(st.st_mode))
        return fail(e, "read", path, S_ISDIR(st.st_mode) ? EISDIR : ESPIPE);
    size_t size = (size_t)st.st_size;
    void *base = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
    if (base == MAP_FAILED)
        return fail(e, "map", path, errno);
    *out = (mapping){.at = base, .size = size, .base = base, .length = size};
    return true;
}

/* O_NONBLOCK: opening a pipe that nobody writes to must not hang; a regular file does not mind. */
bool file_map(const char *path, mapping *out, err *e)
{
    *out = (mapping){0};
    int fd = open_again(path, O_RDONLY | O_NONBLOCK, 0);
    if (fd < 0)
        return fail(e, "open", path, errno);
    bool done = file_map_fd(fd, path, out, e);
    close(fd);
    return done;
}

void file_unmap(mapping *m)
{
    if (m->base)
        munmap(m->base, m->length);
    *m = (mapping){0};
}

/* Reads in pieces until the end: pipes have no size, and files may grow or shrink while they are read. */
bool file_read(const char *path, size_t limit, text *out, err *e)
{
    int fd = open_again(path, O_RDONLY, 0);
    if (fd < 0)
        return fail(e, "open", path, errno);
    char piece[16384];
    size_t total = 0;
    for (;;) {
        ssize_t n = read(fd, piece, sizeof piece);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            int why = errno;
            close(fd);
            text_bytes(out, "", 0); /* an empty file is an empty, terminated text */
            return n == 0 || fail(e, "read", path, why);
        }
        total += (size_t)n;
        if (total > limit) {
            close(fd);
            return err_set(e, TS_FILES, "'%s' is larger than the limit of %zu bytes", path, limit);
        }
        text_bytes(out, piece, (size_t)n);
    }
}

static bool write_all(int fd, const void *p, size_t n)
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
static char *folder_of(arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return arena_string(a, ".");
    int n = (int)(slash - path);
    return arena_format(a, "%.*s", n > 0 ? n : 1, path);
}

static int open_temporary(arena *a, const char *folder, char **name)
{
    /* The name is random, not derived from the target's: that may be as long as the system allows. */
    for (int attempt = 0; attempt < 16; attempt++) {
        uint64_t r;
        if (getrandom(&r, sizeof r, 0) != sizeof r)
            return -1;
        *name = arena_format(a, "%s/.tessera-%016llx.tmp", folder, (unsigned long long)r);
        int fd = open_again(*name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

/* A full disk is found before the writing; file systems that cannot reserve say so and are forgiven. */
static bool reserve(int fd, size_t n)
{
    return n == 0 || fallocate(fd, 0, 0, (off_t)n) == 0 || (errno != ENOSPC && errno != EDQUOT && errno != EFBIG);
}

static bool sync_folder(const char *folder)
{
    int fd = open_again(folder, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return errno ==
               EACCES; /* a folder that may be written but not read: the rename stands, only later is it durable */
    bool done = fsync(fd) == 0 || errno == EINVAL; /* EINVAL: this file system does not sync folders */
    int why = errno;
    close(fd);
    errno = why;
    return done;
}

/* Devices and pipes, and the links in /dev that stand for open files (/dev/stdout), are written in place, never
 * replaced; appending keeps what a redirected stdout already holds. Any other link is itself replaced: never followed,
 * so that one planted in an output folder leads nowhere. */
static bool is_special(const char *path)
{
    struct stat st;
    if (lstat(path, &st) != 0)
        return false;
    if (S_ISLNK(st.st_mode))
        return strncmp(path, "/dev/", 5) == 0;
    return !S_ISREG(st.st_mode);
}

static bool save_special(const char *path, const void *p, size_t n)
{
    int fd = open_again(path, O_WRONLY | O_APPEND, 0);
    if (fd < 0)
        return false;
    bool done = write_all(fd, p, n);
    int why = errno;
    done = close(fd) == 0 && done;
    errno = done ? 0 : why;
    return done;
}

/* errno says why when this is false. A failed fsync is final: the kernel may have dropped the pages, so no second try.
 */
static bool save_regular(arena *a, const char *path, const void *p, size_t n)
{
    char *folder = folder_of(a, path), *name = NULL;
    int fd = open_temporary(a, folder, &name);
    if (fd < 0)
        return false;
    bool done = reserve(fd, n) && write_all(fd, p, n) && fsync(fd) == 0;
    int why = errno;
    if (close(fd) != 0 && done) {
        done = false;
        why = errno;
    }
    if (done && rename(name, path) != 0) {
        done = false;
        why = errno;
    }
    if (!done) {
        unlink(name);
        errno = why;
        return false;
    }
    return sync_folder(folder);
}

bool file_save(const char *path, const void *p, size_t n, err *e)
{
    arena a = {0};
    bool done = is_special(path) ? save_special(path, p, n) : save_regular(&a, path, p, n);
    int why = errno;
    arena_free(&a);
    return done || fail(e, "write", path, why);
}

static bool make_one(const char *path)
{
    struct stat st;
    if (mkdir(path, 0777) == 0)
        return true;
    int why = errno;
    if (stat(path, &st) == 0) {
        why = ENOTDIR;
        if (S_ISDIR(st.st_mode))
            return true;
    }
    errno = why;
    return false;
}

bool file_make_dir(const char *path, err *e)
{
    if (!*path)
        return fail(e, "make folder", path, ENOENT);
    arena a = {0};
    char *prefix = arena_string(&a, path);
    bool done = true;
    for (char *slash = strchr(prefix + 1, '/'); slash && done; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        done = make_one(prefix);
        *slash = '/';
    }
    done = done && make_one(path);
    int why = errno;
    arena_free(&a);
    return done || fail(e, "make folder", path, why);
}
