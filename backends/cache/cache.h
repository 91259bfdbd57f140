/* cache.h - a folder of files, each kept under the hash of everything that it was made from.
 *
 *   FOLDER/v1/ab/<key>/{object,MANIFEST}   entries; ab are the first two digits of the key
 *   FOLDER/v1/tmp, damaged, lock           being written; set aside; advisory locks
 *
 * What is found is verified each time: the bytes handed out are the bytes whose SHA-256 the manifest states for that
 * key, and they are handed out in memory, so nothing can change between check and use. An entry appears whole or not at
 * all; whoever comes second uses the first one's. No correctness depends on locks. Folders are 0700, files 0600; a
 * folder that others could write to is refused. A cache that cannot be written, or is not there, is no error: work goes
 * on without it. NULL stands for no cache in every function. One thread uses a cache at a time; any number
 * of processes may. An open one is its opener's until cache_close.
 *
 * The room:  cache (find, publish), prune, admin (list, check, empty) over folder: entries on disk
 *            settings -> work_folder, jobs (child): a build, in a private folder, by programs that are watched
 *            loader (elf): what was built, as code of this process */
#pragma once
#include "backends/cache/settings.h"
#include "graph/base/base.h"

typedef struct cache cache;

enum { CACHE_LIMIT = 1 << 30 }; /* bytes that a cache is kept to */
/* folder NULL: the user's cache folder; "none": no cache. *out is NULL when there is none to be used; notes says why,
 * and gets a line for everything else that a person should know, as long as the cache is open. False: refused, it is
 * not safe. */
char *cache_path(arena *mem, const char *folder, const settings *env); /* NULL: the user has no such folder */
bool cache_open(cache **out, const char *folder, const settings *env, text *notes, err *e);
void cache_close(cache *c);

bool cache_get(cache *c, const digest *key, text *out); /* false: not there; damaged entries are set aside */
void cache_put(cache *c, const digest *key, const void *p, size_t n);
void cache_remove(cache *c, const digest *key);

/* So that two processes do not make the same thing at once: waits up to that many seconds, then -1 and go
 * ahead anyway. */
int cache_lock(cache *c, const digest *key, double seconds);
void cache_unlock(int lock);

typedef struct cache_sum {
    int64_t n, bytes;
} cache_sum;
/* Removes what was used longest ago until the entries fit in 3/4 of `limit` bytes, if they exceed it; and left-overs of
 * killed processes older than `stale` seconds. Limit 0: all of them, and what was set aside. Gives what went. */
cache_sum cache_prune(cache *c, int64_t limit, double stale);
void cache_tend(cache *c); /* prunes to CACHE_LIMIT, at most once a day */
