/* prune.c - keeps the cache from growing for ever: entries by last use, left-overs by age. */
#include "backends/c/cache.h"
#include "backends/c/cache_folder.h"
#include "backends/c/folder.h"
#include "backends/c/workdir.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { DAY = 24 * 3600, BLOCK = 4096 };

typedef struct entry {
    char name[ENTRY_NAME];
    int64_t bytes;
    time_t used;
} entry;

typedef struct entries {
    entry *at;
    size_t n, room;
    int64_t bytes;
} entries;

static DIR *open_folder(int at, const char *name)
{
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir && fd >= 0)
        close(fd);
    return dir;
}

static void entries_add(entries *all, const char *name, int64_t bytes, time_t used)
{
    if (all->n == all->room) {
        size_t size;
        all->room = all->room ? 2 * all->room : 64;
        MUST(size_mul(all->room, sizeof *all->at, &size));
        all->at = realloc(all->at, size);
        MUST(all->at != NULL);
    }
    entry *x = &all->at[all->n++];
    *x = (entry){.bytes = bytes, .used = used};
    snprintf(x->name, sizeof x->name, "%s", name);
    all->bytes += bytes;
}

/* Space taken: the object, the manifest, the folder. */
static void list_shelf(int v1, const char *shelf, entries *all)
{
    DIR *dir = open_folder(v1, shelf);
    if (!dir)
        return;
    for (const struct dirent *d = readdir(dir); d; d = readdir(dir)) {
        char name[ENTRY_NAME], object[ENTRY_NAME];
        struct stat folder, file;
        if (strlen(d->d_name) != 64)
            continue;
        snprintf(name, sizeof name, "%s/%.64s", shelf, d->d_name);
        snprintf(object, sizeof object, "%.64s/object", d->d_name);
        if (fstatat(dirfd(dir), d->d_name, &folder, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        bool known = fstatat(dirfd(dir), object, &file, AT_SYMLINK_NOFOLLOW) == 0;
        entries_add(all, name, (known ? (int64_t)file.st_size : 0) + 2 * BLOCK, folder.st_mtime);
    }
    closedir(dir);
}

static int oldest_first(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->used != y->used)
        return x->used < y->used ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* The name goes first, in one step: a reader finds a whole entry or none. */
static void remove_entry(cache *c, const char *name)
{
    char aside[ENTRY_NAME];
    mkdirat(c->fd, "tmp", 0700);
    cache_random_name("tmp", aside);
    if (renameat(c->fd, name, c->fd, aside) == 0)
        folder_remove(c->fd, aside);
}

static void prune_entries(cache *c, int64_t limit)
{
    entries all = {0};
    DIR *v1 = open_folder(c->fd, ".");
    if (!v1)
        return;
    for (const struct dirent *d = readdir(v1); d; d = readdir(v1))
        if (isxdigit((unsigned char)d->d_name[0]) && isxdigit((unsigned char)d->d_name[1]) && !d->d_name[2])
            list_shelf(c->fd, d->d_name, &all);
    closedir(v1);
    if (all.n > 1)
        qsort(all.at, all.n, sizeof *all.at, oldest_first);
    int64_t goal = all.bytes > limit ? limit - limit / 4 : all.bytes;
    for (size_t i = 0; i < all.n && all.bytes > goal; i++) {
        remove_entry(c, all.at[i].name);
        all.bytes -= all.at[i].bytes;
    }
    free(all.at);
}

/* Files and folders in `name` that nobody touched for so long. A lock that goes away while held costs a
 * double compile. */
static void prune_stale(cache *c, const char *name, double seconds)
{
    DIR *dir = open_folder(c->fd, name);
    if (!dir)
        return;
    time_t before = time(NULL) - (time_t)seconds;
    for (const struct dirent *d = readdir(dir); d; d = readdir(dir)) {
        struct stat st;
        if (d->d_name[0] == '.' || fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
            st.st_mtime > before)
            continue;
        if (S_ISDIR(st.st_mode))
            folder_remove(dirfd(dir), d->d_name);
        else
            unlinkat(dirfd(dir), d->d_name, 0);
    }
    closedir(dir);
}

void cache_prune(cache *c, int64_t limit, double stale)
{
    if (!c)
        return;
    prune_entries(c, limit);
    prune_stale(c, "tmp", stale);
    prune_stale(c, "damaged", stale);
    prune_stale(c, "lock", stale);
}

void cache_tend(cache *c)
{
    struct stat st;
    if (!c || (fstatat(c->fd, "pruned", &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_mtime + DAY > time(NULL)))
        return;
    int stamp = openat(c->fd, "pruned", O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (stamp < 0)
        return;
    futimens(stamp, NULL);
    close(stamp);
    cache_prune(c, INT64_C(1) << 30, DAY);
    workdir_sweep(c->temp, DAY);
}
