/* files.c - limits of what is read, and names that appear only once all is on disk. */
#include "train/files.h"

#include "graph/base/base.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *remedy(int why)
{
    switch (why) {
    case ENOENT: return "give the path of what is there; names without a folder are looked for in this one";
    case EISDIR: return "name a file; this is a folder";
    case ENOTDIR: return "a part of this path is a file, no folder";
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return "make room there; what was written before is whole";
    case EROFS:
    case EACCES:
    case EPERM: return "choose a place that this user may read and write";
    default: return NULL;
    }
}

bool files_failed(const char *doing, const char *path, ts_error *e)
{
    char words[128];
    const char *what_to_do = remedy(errno);
    err_set(e, TS_FILES, "cannot %s '%s': %s", doing, path, strerror_r(errno, words, sizeof words));
    return what_to_do ? err_hint(e, "%s", what_to_do) : false;
}

static bool read_all(int fd, const char *path, bytes *out, ts_error *e)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return files_failed("read", path, e);
    if (S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return files_failed("read", path, e);
    }
    if (!S_ISREG(st.st_mode)) {
        err_set(e, TS_FILES, "cannot read '%s': it is a pipe or a device, not a file", path);
        return err_hint(e, "write what comes out of it into a file: it is read again when a run goes on");
    }
    const size_t size = (size_t)st.st_size;
    out->at = malloc(size + 1);
    if (!out->at)
        return err_memory(e, size + 1, "'%s'", path);
    while (out->n < size) {
        const ssize_t n = read(fd, out->at + out->n, size - out->n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return files_failed("read", path, e);
        if (n == 0) {
            err_set(e, TS_FILES, "'%s' shrank from %zu to %zu bytes while it was read", path, size, out->n);
            return err_hint(e, "train on a file that nothing else writes");
        }
        out->n += (size_t)n;
    }
    out->at[size] = 0;
    return true;
}

bool bytes_read(const char *path, bytes *out, ts_error *e)
{
    *out = (bytes){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return files_failed("open", path, e);
    const bool good = read_all(fd, path, out, e);
    close(fd);
    if (good)
        return true;
    free(out->at);
    *out = (bytes){0};
    return false;
}

bool files_make_folder(const char *path, ts_error *e)
{
    char prefix[4096];
    if (!*path || strlen(path) >= sizeof prefix) {
        errno = ENAMETOOLONG;
        return files_failed("make the folder", path, e);
    }
    memcpy(prefix, path, strlen(path) + 1);
    for (char *slash = strchr(prefix + 1, '/');; slash = strchr(slash + 1, '/')) {
        if (slash)
            *slash = 0;
        struct stat st;
        const int why = mkdir(prefix, 0777) == 0 ? 0 : errno;
        if (why && (stat(prefix, &st) != 0 || !S_ISDIR(st.st_mode))) {
            errno = why == EEXIST ? ENOTDIR : why;
            return files_failed("make the folder", prefix, e);
        }
        if (!slash)
            return true;
        *slash = '/';
    }
}

static bool sync_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const bool good = fsync(fd) == 0 || errno == EINVAL;
    close(fd);
    return good;
}

bool files_publish(const char *from, const char *to, ts_error *e)
{
    char parent[4096];
    const char *slash = strrchr(to, '/');
    snprintf(parent, sizeof parent, "%.*s", slash ? (int)(slash - to) : 1, slash ? to : ".");
    return (sync_folder(from) && rename(from, to) == 0 && sync_folder(parent)) || files_failed("write", to, e);
}

void files_remove_folder(const char *path)
{
    DIR *d = opendir(path);
    if (!d)
        return;
    for (const struct dirent *i; (i = readdir(d));)
        if (strcmp(i->d_name, ".") && strcmp(i->d_name, ".."))
            unlinkat(dirfd(d), i->d_name, 0);
    closedir(d);
    rmdir(path);
}

enum { SUM_DIGITS = 64 }; /* of a SHA-256 */

char *files_seal_text(const char *object)
{
    text t = {0};
    char sum[65];
    size_t n = strlen(object);
    while (n > 0 && object[n - 1] != '}')
        n--;
    while (n > 1 && strchr("} \t\r\n", object[n - 1]))
        n--;
    text_add(&t, "%.*s,\"sha256\":\"", (int)n, object);
    ts_hash_bytes(t.s, t.length, sum);
    text_add(&t, "%s\"}\n", sum);
    return text_take(&t);
}

bool files_seal_holds(const bytes *b)
{
    static const char end[] = "\"}\n";
    char sum[65];
    const size_t tail = SUM_DIGITS + sizeof end - 1;
    if (b->n < tail || memcmp(b->at + b->n - (sizeof end - 1), end, sizeof end - 1) != 0)
        return false;
    ts_hash_bytes(b->at, b->n - tail, sum);
    return memcmp(b->at + b->n - tail, sum, SUM_DIGITS) == 0;
}
