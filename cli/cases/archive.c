/* archive.c - an archive of cases, unpacked into a folder that goes away by itself. Archives are not to be trusted:
 * names that leave the folder, links and more than MOST_BYTES are refused. */
#include "cli/cases/cases.h"
#include "cli/cases/libarchive.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_BYTES (INT64_C(4) << 30)       /* of all files together */
enum { BLOCK = 1 << 16, MOST_NAME = 1024 }; /* bytes read at once, and of a path */

typedef struct unpacking {
    libarchive by;
    struct archive *from;
    const char *path, *tiers, *folder;
    int64_t bytes;
    ts_error *e;
} unpacking;

/* "./P0/test_add/model.onnx" without what is in front; NULL for what must not be unpacked anywhere. */
static const char *clean(const char *name)
{
    while (name[0] == '.' && name[1] == '/')
        name += 2;
    if (!*name || *name == '/' || strlen(name) > MOST_NAME)
        return NULL;
    for (const char *s = name; s; s = strchr(s, '/')) {
        s += *s == '/';
        if (s[0] == '.' && s[1] == '.' && (s[2] == '/' || !s[2]))
            return NULL;
        if (!*s)
            break;
    }
    return name;
}

static bool wanted(const unpacking *u, const char *name)
{
    const size_t n = strcspn(name, "/");
    return !name[n] ? strcmp(name, "index.tsv") == 0 : !u->tiers || filter_lists(u->tiers, name, n);
}

static bool make_parents(char *path, size_t from)
{
    for (char *s = path + from; (s = strchr(s, '/')); s++) {
        *s = 0;
        const bool ok = mkdir(path, 0700) == 0 || access(path, X_OK) == 0;
        *s = '/';
        if (!ok)
            return false;
    }
    return true;
}

static bool copy(unpacking *u, int to)
{
    char block[BLOCK];
    la_ssize_t n;
    while ((n = u->by.read_data(u->from, block, sizeof block)) > 0) {
        if ((u->bytes += n) > MOST_BYTES)
            return err_set(u->e, TS_MEMORY, "%s: unpacks to more than %lld bytes", u->path, (long long)MOST_BYTES);
        if (!file_write(to, block, (size_t)n))
            return err_set(u->e, TS_FILES, "cannot write below %s", u->folder);
    }
    return n == 0 || err_set(u->e, TS_BAD_INPUT, "%s: %s", u->path, u->by.error(u->from));
}

static bool take(unpacking *u, struct archive_entry *entry)
{
    const char *name = u->by.entry_path(entry);
    const char *safe = name ? clean(name) : NULL;
    if (name && strcmp(name, "./") != 0 && !safe)
        return err_set(u->e, TS_BAD_INPUT, "%s: the entry \"%.200s\" would leave its folder", u->path, name);
    if (!safe || u->by.entry_type(entry) != AE_IFREG || !wanted(u, safe))
        return true;
    ENDED_BY(text_free) text path = {0};
    text_add(&path, "%s/%s", u->folder, safe);
    const int to = make_parents(path.s, strlen(u->folder) + 1)
                       ? open(path.s, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)
                       : -1;
    const bool ok = to >= 0 ? copy(u, to) : err_set(u->e, TS_FILES, "cannot write %s", path.s);
    if (to >= 0)
        close(to);
    return ok;
}

bool archive_unpack(const char *path, const char *tiers, const char *folder, ts_error *e)
{
    unpacking u = {.path = path, .tiers = tiers, .folder = folder, .e = e};
    struct archive_entry *entry;
    if (!libarchive_open(&u.by, e))
        return false;
    if (!(u.from = u.by.read_new()))
        return err_memory(e, 0, "what reads %s", path);
    u.by.support_filters(u.from);
    u.by.support_formats(u.from);
    int got = u.by.open_file(u.from, path, BLOCK);
    bool ok = got == ARCHIVE_OK;
    while (ok && (got = u.by.next(u.from, &entry)) == ARCHIVE_OK)
        ok = take(&u, entry);
    if (got != ARCHIVE_OK && got != ARCHIVE_EOF)
        ok = err_set(e, TS_BAD_INPUT, "%s: %s", path, u.by.error(u.from));
    u.by.free(u.from);
    return ok;
}

/* ---- the folder ---- */
/* Waits until nobody holds the other end of the pipe any more. */
_Noreturn static void watch(int from, const char *folder)
{
    char byte;
    setsid();
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    for (int fd = 0; fd <= 2; fd++)
        close(fd);
    while (read(from, &byte, 1) > 0)
        ;
    file_remove_tree(folder);
    _exit(0);
}

char *archive_folder_make(int *janitor, ts_error *e)
{
    text path = {0};
    int ends[2];
    *janitor = -1;
    text_add(&path, "%s/tessera-cases-XXXXXX", file_temporary());
    char *folder = text_take(&path);
    if (!mkdtemp(folder) || pipe2(ends, O_CLOEXEC) != 0) {
        err_set(e, TS_FILES, "cannot make the temporary folder %s", folder);
        free(folder);
        return NULL;
    }
    const pid_t child = fork();
    if (child == 0) {
        if (fork() > 0) /* whose parent is gone needs nobody to wait for it */
            _exit(0);
        close(ends[1]);
        watch(ends[0], folder);
    }
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
    *janitor = ends[1];
    return folder;
}
