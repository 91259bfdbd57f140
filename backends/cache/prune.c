/* prune.c - keeps the cache from growing for ever: entries by last use, left-overs by age. */
#include "backends/cache/cache.h"
#include "backends/cache/cache_folder.h"
#include "backends/cache/folder.h"
#include "backends/cache/work_folder.h"

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

static DIR *open_folder(int at, const char *name)
{
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (!folder && fd >= 0)
        close(fd);
    return folder;
}

static void entries_add(cache_entries *all, const char *name, int64_t bytes, time_t used)
{
    all->at = heap_grown(all->at, all->n, &all->cap, sizeof *all->at);
    cache_entry *x = &all->at[all->n++];
    *x = (cache_entry){.bytes = bytes, .used = used};
    snprintf(x->name, sizeof x->name, "%s", name);
    all->bytes += bytes;
}

/* Space taken: the object, the manifest, the folder. */
static void list_shelf(int v1, const char *shelf, cache_entries *all)
{
    DIR *folder = open_folder(v1, shelf);
    if (!folder)
        return;
    for (const struct dirent *d = readdir(folder); d; d = readdir(folder)) {
        char name[ENTRY_NAME], object[ENTRY_NAME];
        struct stat entry, file;
        if (strlen(d->d_name) != 64)
            continue;
        snprintf(name, sizeof name, "%s/%.64s", shelf, d->d_name);
        snprintf(object, sizeof object, "%.64s/object", d->d_name);
        if (fstatat(dirfd(folder), d->d_name, &entry, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        bool known = fstatat(dirfd(folder), object, &file, AT_SYMLINK_NOFOLLOW) == 0;
        entries_add(all, name, (known ? (int64_t)file.st_size : 0) + 2 * BLOCK, entry.st_mtime);
    }
    closedir(folder);
}

static int oldest_first(const void *a, const void *b)
{
    const cache_entry *x = a, *y = b;
    if (x->used != y->used)
        return x->used < y->used ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* The name goes first, in one step: a reader finds a whole entry or none. */
static bool remove_entry(cache *c, const char *name)
{
    char aside[ENTRY_NAME];
    mkdirat(c->fd, "tmp", 0700);
    cache_random_name("tmp", aside);
    if (renameat(c->fd, name, c->fd, aside) != 0)
        return false;
    folder_remove(c->fd, aside);
    return true;
}

void cache_list(const cache *c, cache_entries *all)
{
    DIR *v1 = open_folder(c->fd, ".");
    for (const struct dirent *d = v1 ? readdir(v1) : NULL; d; d = readdir(v1))
        if (isxdigit((unsigned char)d->d_name[0]) && isxdigit((unsigned char)d->d_name[1]) && !d->d_name[2])
            list_shelf(c->fd, d->d_name, all);
    if (v1)
        closedir(v1);
    if (all->n > 1)
        qsort(all->at, (size_t)all->n, sizeof *all->at, oldest_first);
}

static cache_sum prune_entries(cache *c, int64_t limit)
{
    cache_entries all = {0};
    cache_sum gone = {0};
    cache_list(c, &all);
    int64_t goal = all.bytes > limit ? limit - limit / 4 : all.bytes;
    for (int i = 0; i < all.n && all.bytes > goal; i++) {
        all.bytes -= all.at[i].bytes;
        if (remove_entry(c, all.at[i].name))
            gone.n++, gone.bytes += all.at[i].bytes;
    }
    free(all.at);
    return gone;
}

/* Files and folders in `name` that nobody touched for so long. A lock that goes away while held costs a
 * double compile. */
static void prune_stale(cache *c, const char *name, double seconds)
{
    DIR *folder = open_folder(c->fd, name);
    if (!folder)
        return;
    time_t before = time(NULL) - (time_t)seconds;
    for (const struct dirent *d = readdir(folder); d; d = readdir(folder)) {
        struct stat st;
        if (d->d_name[0] == '.' || fstatat(dirfd(folder), d->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
            st.st_mtime > before)
            continue;
        if (S_ISDIR(st.st_mode))
            folder_remove(dirfd(folder), d->d_name);
        else
            unlinkat(dirfd(folder), d->d_name, 0);
    }
    closedir(folder);
}

cache_sum cache_prune(cache *c, int64_t limit, double stale)
{
    if (!c)
        return (cache_sum){0};
    const cache_sum gone = prune_entries(c, limit);
    prune_stale(c, "tmp", stale);
    prune_stale(c, "damaged", limit ? stale : -1);
    prune_stale(c, "lock", stale);
    return gone;
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
    cache_prune(c, CACHE_LIMIT, DAY);
    work_folder_sweep(c->temporary, DAY);
}
