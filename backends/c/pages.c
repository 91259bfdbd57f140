/* pages.c - mapped memory. */
#include "backends/c/pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const size_t two = 2 << 20; /* bytes of a huge page */

static size_t whole(size_t bytes)
{
    return (bytes + two - 1) / two * two;
}

char *pages_map(size_t bytes, err *e)
{
    const size_t size = whole(bytes);
    char *m = mmap(NULL, size + two, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (m == MAP_FAILED)
        return err_set(e, TS_MEMORY, "cannot map %zu bytes", size), NULL;
    char *at = (char *)(((uintptr_t)m + two - 1) / two * two);
    if (at > m)
        munmap(m, (size_t)(at - m));
    munmap(at + size, (size_t)(m + two - at));
    madvise(at, size, MADV_HUGEPAGE);
    return at;
}

void pages_unmap(char *at, size_t bytes)
{
    if (at)
        munmap(at, whole(bytes));
}

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
