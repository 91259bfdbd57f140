/* cache_folder.h - what cache.c, prune.c and admin.c share: the open cache, the form of its names, its entries.
 *
 * Every name is looked up from the open folder, so that nobody can move it away in between. An entry under its name
 * is whole; what is being written has a random name. Failures to write are noted once and never an error: the cache
 * only saves time. An open cache owns its descriptor and borrows the rest; a list of entries is the asker's to free. */
#pragma once
#include "graph/base/base.h"

#include <time.h>

enum { ENTRY_NAME = 96 }; /* "ab/<64 digits>" and its like */

struct cache {
    int fd;                /* FOLDER/v1 */
    text *notes;           /* the caller's */
    const char *temporary; /* where scratch folders are */
    bool unwritable;       /* said once, then left alone */
};

typedef struct cache_entry {
    char name[ENTRY_NAME]; /* "ab/<64 digits>" */
    int64_t bytes;         /* on disk */
    time_t used;
} cache_entry;
typedef struct cache_entries {
    cache_entry *at; /* oldest use first; owned */
    int n, cap;
    int64_t bytes;
} cache_entries;
void cache_list(const cache *c, cache_entries *all); /* all is zeroed before; free(all->at) after */
/* The entry is whole and says so itself; one that is not is set aside, as cache_get does. */
bool cache_check(cache *c, const digest *key);
void cache_random_name(const char *folder, char name[ENTRY_NAME]); /* "folder/<32 digits>" */
