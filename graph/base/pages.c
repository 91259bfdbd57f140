/* pages.c - memory for much data, on huge pages: rows that lie apart would each be on a small page of their own, and
 * the processor remembers few. */
#include "graph/base/base.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

static const size_t two = 2 << 20; /* bytes of a huge page */

static size_t whole(size_t bytes) /* the end of what is not much stays on pages that are not huge, and costs no more */
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

char *pages_map(size_t bytes, err *e)
{
    const size_t size = whole(bytes);
    char *m = mmap(NULL, size + two, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
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

void pages_trim(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
