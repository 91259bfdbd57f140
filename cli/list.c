/* list.c - capacity doubles, so that appending n items costs n. */
#include "cli/list.h"

#include "graph/base/err.h"

#include <stdlib.h>
#include <string.h>

void *list_make(size_t n, size_t size)
{
    void *list = calloc(n + 1, size);
    if (!list)
        memory_failed((n + 1) * size, "a list");
    return list;
}

void *list_grown(void *list, int n, int *cap, size_t size)
{
    if (n < *cap)
        return list;
    const int before = *cap;
    *cap = 2 * n + 8;
    char *more = reallocarray(list, (size_t)*cap, size);
    if (!more)
        memory_failed((size_t)*cap * size, "a list");
    memset(more + (size_t)before * size, 0, (size_t)(*cap - before) * size);
    return more;
}
