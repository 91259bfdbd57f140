/* file.c - the only place that opens and maps files; save.c replaces them. Every descriptor is closed on exec. */
#include "graph/base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where there is one; a name that is wrong speaks for itself. */
static const char *remedy(int why)
{
    switch (why) {
    case EISDIR: return "name a file; this is a folder";
    case ENOTDIR: return "a part of this path is a file, no folder";
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return "make room there, or choose another place; what stood there before is as it was";
    case EROFS:
    case EACCES:
    case EPERM: return "choose a place that this user may read and write";
    case EMFILE:
    case ENFILE: return "allow more open files (ulimit -n), or close some";
    case EIO: return "the disk or the way to it fails: the system's log says more; choose another place";
    default: return NULL;
    }
}

bool file_failed(err *e, const char *doing, const char *path, int why)
{
    char words[128];
    const char *what_to_do = remedy(why);
    err_set(e, TS_FILES, "cannot %s '%s': %s", doing, path, strerror_r(why, words, sizeof words));
    return what_to_do ? err_hint(e, "%s", what_to_do) : false;
}

int file_open(const char *path, int flags, mode_t mode)
{
    int fd;
    do
        fd = open(path, flags | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

bool file_exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

bool file_is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    return remove(path);
}

void file_remove_tree(const char *path)
{
    enum { OPEN_FOLDERS = 16 };
    nftw(path, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}

bool file_map_fd(int fd, const char *path, mapping *out, err *e)
{
    *out = (mapping){0};
    struct stat st;
    if (fstat(fd, &st) != 0)
        return file_failed(e, "read", path, errno);
    if (!S_ISREG(st.st_mode))
        return err_set(e, TS_FILES, "cannot read '%s': it is %s, not a regular file", path,
                       S_ISDIR(st.st_mode)    ? "a folder"
                       : S_ISFIFO(st.st_mode) ? "a pipe"
                       : S_ISSOCK(st.st_mode) ? "a socket"
                                              : "a device");
    size_t size = (size_t)st.st_size;
    void *at = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
    if (at == MAP_FAILED)
        return errno == ENOMEM ? err_memory(e, size, "the file '%s'", path) : file_failed(e, "map", path, errno);
    *out = (mapping){at, size, at};
    return true;
}

/* O_NONBLOCK: opening a pipe that nobody writes to must not hang; a regular file does not mind. */
bool file_map(const char *path, mapping *out, err *e)
{
    *out = (mapping){0};
    if (!err_given(path, "the path of a file", e))
        return false;
    int fd = file_open(path, O_RDONLY | O_NONBLOCK, 0);
    if (fd < 0)
        return file_failed(e, "open", path, errno);
    bool done = file_map_fd(fd, path, out, e);
    close(fd);
    return done;
}

void file_unmap(mapping *m)
{
    if (m->base)
        munmap(m->base, m->size);
    *m = (mapping){0};
}

void file_let_go(const mapping *m)
{
    if (m->base)
        madvise(m->base, m->size, MADV_DONTNEED);
}

/* Reads in pieces until the end: pipes have no size, and files may grow or shrink while they are read. */
bool file_read(const char *path, size_t limit, text *out, err *e)
{
    int fd = file_open(path, O_RDONLY, 0);
    if (fd < 0)
        return file_failed(e, "open", path, errno);
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
            return n == 0 || file_failed(e, "read", path, why);
        }
        total += (size_t)n;
        if (total > limit) {
            close(fd);
            return err_set(e, TS_MEMORY, "'%s' is larger than the limit of %zu bytes", path, limit);
        }
        text_bytes(out, piece, (size_t)n);
    }
}

static bool make_one(const char *path)
{
    struct stat st;
    if (mkdir(path, 0777) == 0)
        return file_sync_holder(path);
    int why = errno;
    if (stat(path, &st) == 0) {
        why = ENOTDIR;
        if (S_ISDIR(st.st_mode))
            return true;
    }
    errno = why;
    return false;
}

bool file_make_folder(const char *path, err *e)
{
    if (!*path)
        return file_failed(e, "make the folder", path, ENOENT);
    ENDED_BY(arena_free) arena mem = {0};
    char *prefix = arena_string(&mem, path);
    bool done = true;
    for (char *slash = strchr(prefix + 1, '/'); slash && done; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        done = make_one(prefix);
        *slash = '/';
    }
    done = done && make_one(path);
    int why = errno;
    return done || file_failed(e, "make the folder", path, why);
}
