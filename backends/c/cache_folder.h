/* cache_folder.h - what cache.c and prune.c share: the open cache, and the form of its names. */
#ifndef TS_C_CACHE_FOLDER_H
#define TS_C_CACHE_FOLDER_H
#include "graph/base/base.h"

enum { ENTRY_NAME = 96 }; /* "ab/<64 digits>" and its like */

struct cache {
    int fd;           /* DIR/v1 */
    text *notes;      /* the caller's */
    const char *temp; /* where scratch folders are */
    bool unwritable;  /* said once, then left alone */
};

void cache_random_name(const char *folder, char name[ENTRY_NAME]); /* "folder/<32 digits>" */
#endif
