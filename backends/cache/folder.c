/* folder.c - the *at family of calls, with short writes and interruptions taken care of. */
#include "backends/cache/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

bool folder_write(int at, const char *name, const void *p, size_t n, bool sync)
{
    int fd = openat(at, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    bool ok = file_write(fd, p, n) && (!sync || fsync(fd) == 0);
    int why = errno;
    if (close(fd) != 0 && ok)
        return false;
    errno = why;
    return ok;
}

/* O_NONBLOCK: a pipe planted under the name does not hang us. */
bool folder_read(int at, const char *name, size_t most, text *out)
{
    struct stat st;
    int fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool ok = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    size_t start = out->length;
    char piece[16384];
    while (ok) {
        ssize_t n = read(fd, piece, sizeof piece);
        if (n < 0 && errno == EINTR)
            continue;
        ok = n >= 0 && out->length - start + (size_t)n <= most;
        if (n <= 0 || !ok)
            break;
        text_bytes(out, piece, (size_t)n);
    }
    close(fd);
    return ok;
}

void folder_remove(int at, const char *name)
{
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (folder) {
        for (const struct dirent *d = readdir(folder); d; d = readdir(folder))
            unlinkat(fd, d->d_name, 0); /* refuses folders, so also "." and ".." */
        closedir(folder);
    } else if (fd >= 0) {
        close(fd);
    }
    unlinkat(at, name, AT_REMOVEDIR);
}
