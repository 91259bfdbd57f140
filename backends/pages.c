/* pages.c - mapped files. */
#include "backends/pages.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

void pages_find_files(page_files *f)
{
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "re");
    f->n = 0;
    while (maps && f->n < COUNT(f->range) && fgets(line, sizeof line, maps)) {
        unsigned long from, to, inode;
        char mode[8];
        if (sscanf(line, "%lx-%lx %7s %*x %*x:%*x %lu", &from, &to, mode, &inode) != 4)
            continue;
        if (!inode || strcmp(mode, "r--p"))
            continue;
        f->range[f->n].from = from, f->range[f->n++].to = to;
    }
    if (maps)
        fclose(maps);
}

void pages_release(const page_files *f, const void *p, size_t n)
{
    const uintptr_t page = 4096, from = ((uintptr_t)p + page - 1) / page * page, to = ((uintptr_t)p + n) / page * page;
    for (int i = 0; i < f->n && from < to; i++)
        if (f->range[i].from <= from && to <= f->range[i].to)
            madvise((void *)from, to - from, MADV_DONTNEED);
}
