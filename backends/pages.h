/* pages.h - giving back pages of files that are no longer needed. Values stay what they are: what is taken out of
 * memory is read again from its file when somebody asks for it. Nothing is owned: pages are whose they are, a list of
 * files is a plain value. */
#pragma once
#include "graph/base/base.h"

/* The read-only file mappings of this process, as they were when asked. */
typedef struct page_files {
    int n;
    struct {
        uintptr_t from, to;
    } range[256];
} page_files;
void pages_find_files(page_files *f);
/* Takes whole pages within [p, p + n) out of memory, if they are a file's and cannot have been changed: reading them
 * again brings them back. Keeps a model that was copied from its file from counting twice. */
void pages_release(const page_files *f, const void *p, size_t n);
