/* cache.c - opening, finding, publishing. Pruning is in prune.c. */
#include "backends/cache/cache.h"
#include "backends/cache/cache_folder.h"
#include "backends/cache/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { OBJECT_MOST = 256 << 20, MANIFEST_MOST = 512, USE_GRAIN = 3600 };

static bool skip(cache *c, const char *folder, int why)
{
    char words[128];
    text_line(c->notes, "cache folder '%s' cannot be used (%s); going on without it", folder,
              strerror_r(why, words, sizeof words));
    return false;
}

static bool refuse(err *e, const char *folder, const char *reason)
{
    err_set(e, TS_FILES, "cache folder '%s' is not safe: %s", folder, reason);
    return err_hint(e, "name a folder of your own with --cache-dir, or --cache-dir none");
}

/* mkdir -p with 0700. errno says why when it fails. */
static bool make_private(const char *folder)
{
    ENDED_BY(arena_free) arena mem = {0};
    char *path = arena_string(&mem, folder);
    bool ok = true;
    for (char *slash = strchr(path + 1, '/'); slash && ok; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        ok = mkdir(path, 0700) == 0 || errno == EEXIST || access(path, F_OK) == 0;
        *slash = '/';
    }
    ok = ok && (mkdir(path, 0700) == 0 || errno == EEXIST);
    int why = errno;
    errno = why;
    return ok;
}

/* Why the open folder cannot be trusted, or NULL. */
static const char *distrust(int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return "it cannot be examined";
    if (st.st_uid != geteuid())
        return "it belongs to another user";
    return st.st_mode & 022 ? "others than its owner may write to it" : NULL;
}

/* c->fd becomes the open v1; -1 and true when there is no usable folder. */
static bool open_root(cache *c, const char *folder, err *e)
{
    struct stat st;
    const char *reason = NULL;
    int root = make_private(folder) ? open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    int why = errno;
    if (lstat(folder, &st) == 0 && S_ISLNK(st.st_mode))
        reason = "it is a symbolic link";
    else if (root >= 0)
        reason = distrust(root);
    if (root >= 0 && !reason) {
        why = mkdirat(root, "v1", 0700) == 0 || errno == EEXIST ? 0 : errno;
        c->fd = openat(root, "v1", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        why = why ? why : errno;
        reason = c->fd >= 0 ? distrust(c->fd) : NULL;
    }
    if (root >= 0)
        close(root);
    if (reason)
        return refuse(e, folder, reason);
    if (c->fd < 0)
        skip(c, folder, why);
    return true;
}

/* NULL: there is no place for it. */
static char *folder_of_user(arena *mem, const settings *env)
{
    if (env->cache)
        return arena_format(mem, "%s/tessera", env->cache);
    return env->home ? arena_format(mem, "%s/.cache/tessera", env->home) : NULL;
}

char *cache_path(arena *mem, const char *folder, const settings *env)
{
    return folder ? arena_string(mem, folder) : folder_of_user(mem, env);
}

bool cache_open(cache **out, const char *folder, const settings *env, text *notes, err *e)
{
    *out = NULL;
    if (folder && strcmp(folder, "none") == 0)
        return true;
    ENDED_BY(arena_free) arena mem = {0};
    char *path = cache_path(&mem, folder, env);
    if (!path || !*path) {
        text_line(notes, "no cache folder (neither HOME nor XDG_CACHE_HOME is set); going on without it");
        return true;
    }
    for (size_t n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
        path[n - 1] = 0; /* a slash at the end would follow a link */
    cache *c = heap_array(1, sizeof *c);
    *c = (cache){.fd = -1, .notes = notes, .temporary = env->temporary};
    bool ok = open_root(c, path, e);
    if (ok && c->fd >= 0)
        *out = c;
    else
        cache_close(c);
    return ok;
}

void cache_close(cache *c)
{
    if (c && c->fd >= 0)
        close(c->fd);
    free(c);
}

/* ---- entries ---- */

static void entry_name(const digest *key, char name[ENTRY_NAME])
{
    char hex[65];
    digest_hex(key, hex);
    snprintf(name, ENTRY_NAME, "%.2s/%s", hex, hex);
}

void cache_random_name(const char *folder, char name[ENTRY_NAME])
{
    unsigned long long r[2] = {0};
    if (getrandom(r, sizeof r, 0) != sizeof r)
        r[0] = (unsigned long long)getpid(); /* a name already taken only fails the attempt */
    snprintf(name, ENTRY_NAME, "%s/%016llx%016llx", folder, r[0], r[1]);
}

/* The manifest has one possible text for a key and its bytes, so reading it is comparing it. */
static void manifest(const digest *key, const void *p, size_t n, text *out)
{
    hasher *h = hash_open();
    hash_bytes(h, p, n);
    digest sum = hash_close(h);
    char key_hex[65], sum_hex[65];
    digest_hex(key, key_hex);
    digest_hex(&sum, sum_hex);
    text_line(out, "tessera cache entry 1");
    text_line(out, "key %s", key_hex);
    text_line(out, "object %zu bytes sha256 %s", n, sum_hex);
}

static bool entry_read(int folder, const digest *key, text *out)
{
    ENDED_BY(text_free) text stated = {0}, true_one = {0};
    bool ok = folder_read(folder, "MANIFEST", MANIFEST_MOST, &stated) &&
              folder_read(folder, "object", OBJECT_MOST, out);
    if (ok) {
        manifest(key, text_str(out), out->length, &true_one);
        ok = stated.length == true_one.length && memcmp(stated.s, true_one.s, stated.length) == 0;
    }
    return ok;
}

/* Remembers the use for pruning; once an hour is enough. */
static void entry_used(int folder)
{
    struct stat st;
    if (fstat(folder, &st) == 0 && st.st_mtime + USE_GRAIN < time(NULL))
        futimens(folder, NULL);
}

/* Whether `name` stands for the open folder; another may have been published since that one was read. */
static bool entry_is(const cache *c, const char *name, int folder)
{
    struct stat there, here;
    return fstatat(c->fd, name, &there, AT_SYMLINK_NOFOLLOW) == 0 && fstat(folder, &here) == 0 &&
           there.st_dev == here.st_dev && there.st_ino == here.st_ino;
}

/* Moves the entry to where nobody looks for it. False when it is gone already; one that cannot be moved is ignored. */
static bool entry_remove(cache *c, const char *entry)
{
    char aside[ENTRY_NAME];
    mkdirat(c->fd, "damaged", 0700);
    cache_random_name("damaged", aside);
    return renameat(c->fd, entry, c->fd, aside) == 0 || errno != ENOENT;
}

/* used: this is a use of it */
static bool entry_find(cache *c, const digest *key, bool used, text *out)
{
    char name[ENTRY_NAME];
    entry_name(key, name);
    int folder = openat(c->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0 && errno != ELOOP && errno != ENOTDIR)
        return false;
    out->length = 0;
    bool ok = folder >= 0 && entry_read(folder, key, out);
    if (ok && used)
        entry_used(folder);
    const bool gone = folder >= 0 && !ok && !entry_is(c, name, folder); /* removed while it was read: not damaged */
    if (folder >= 0)
        close(folder);
    if (!ok) {
        out->length = 0;
        if (!gone && entry_remove(c, name))
            text_line(c->notes, "K002 cache entry %.12s... is damaged; %s", name + 3,
                      used ? "rebuilt" : "set aside, to be rebuilt when it is needed");
    }
    return ok;
}

bool cache_get(cache *c, const digest *key, text *out)
{
    return c && entry_find(c, key, true, out);
}

bool cache_check(cache *c, const digest *key)
{
    ENDED_BY(text_free) text object = {0};
    return entry_find(c, key, false, &object);
}

void cache_remove(cache *c, const digest *key)
{
    char name[ENTRY_NAME];
    if (!c)
        return;
    entry_name(key, name);
    entry_remove(c, name);
}

/* A folder with the entry's files, on the disk before it gets its name. */
static bool entry_write(cache *c, const char *temporary, const digest *key, const void *p, size_t n)
{
    mkdirat(c->fd, "tmp", 0700);
    if (mkdirat(c->fd, temporary, 0700) != 0)
        return false;
    int folder = openat(c->fd, temporary, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        return false;
    ENDED_BY(text_free) text m = {0};
    manifest(key, p, n, &m);
    bool ok = folder_write(folder, "object", p, n, true) && folder_write(folder, "MANIFEST", m.s, m.length, true) &&
              fsync(folder) == 0;
    int why = errno;
    close(folder);
    errno = why;
    return ok;
}

/* Never replaces: a folder with files in it cannot be renamed over, also where the system lacks the flag for it. */
static bool entry_publish(cache *c, const char *temporary, const char *name)
{
    mkdirat(c->fd, (char[]){name[0], name[1], 0}, 0700);
    if (renameat2(c->fd, temporary, c->fd, name, RENAME_NOREPLACE) == 0)
        return true;
    return (errno == EINVAL || errno == ENOSYS) && renameat(c->fd, temporary, c->fd, name) == 0;
}

void cache_put(cache *c, const digest *key, const void *p, size_t n)
{
    char name[ENTRY_NAME], temporary[ENTRY_NAME];
    if (!c || c->unwritable || n > OBJECT_MOST)
        return;
    entry_name(key, name);
    cache_random_name("tmp", temporary);
    bool ok = entry_write(c, temporary, key, p, n) && entry_publish(c, temporary, name);
    int why = errno;
    if (!ok && (why == EEXIST || why == ENOTEMPTY)) {
        ENDED_BY(text_free) text winner = {0};
        ok = cache_get(c, key, &winner) || entry_publish(c, temporary, name);
        why = errno;
    }
    folder_remove(c->fd, temporary); /* not there any more if it was published */
    if (!ok) {
        char words[128];
        c->unwritable = true;
        text_line(c->notes, "the cache cannot be written (%s); going on without keeping what is built",
                  strerror_r(why, words, sizeof words));
    }
}

/* ---- locks ---- */

int cache_lock(cache *c, const digest *key, double seconds)
{
    char hex[65], name[ENTRY_NAME];
    if (!c)
        return -1;
    digest_hex(key, hex);
    snprintf(name, sizeof name, "lock/%s", hex);
    mkdirat(c->fd, "lock", 0700);
    int fd = openat(c->fd, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    const double step = 0.02;
    while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (seconds <= 0 || (errno != EWOULDBLOCK && errno != EINTR)) {
            close(fd);
            return -1;
        }
        nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * step)}, NULL);
        seconds -= step;
    }
    return fd;
}

void cache_unlock(int lock)
{
    if (lock >= 0)
        close(lock); /* the kernel drops the lock, also when a process dies */
}
