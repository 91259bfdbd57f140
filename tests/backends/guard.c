#include "tests/backends/guard.h"

#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

static size_t whole(size_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

void guard_make(guard *g, edge at)
{
    *g = (guard){.edge = at};
    g->memory = (memory){guard_take, g};
}

void *guard_take(void *guard_, size_t bytes, err *e)
{
    guard *g = guard_;
    const size_t inside = whole(bytes), all = inside + 2 * PAGE;
    (void)e;
    MUST(g->n < MOST_GUARDED);
    char *at = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(at != MAP_FAILED);
    MUST(!mprotect(at, PAGE, PROT_NONE) && !mprotect(at + PAGE + inside, PAGE, PROT_NONE));
    g->map[g->n].at = at, g->map[g->n++].bytes = all;
    return at + PAGE + (g->edge == AT_END ? inside - bytes : 0);
}

void guard_free(guard *g)
{
    while (g->n > 0)
        g->n--, munmap(g->map[g->n].at, g->map[g->n].bytes);
}

void guard_spread(const guard *g, plan *p)
{
    size_t at = 0;
    MUST(p->own_places);
    for (int i = 0; i < p->g->n; i++) {
        buffer *b = &p->buffer[i];
        if (b->where != IN_ARENA)
            continue;
        const size_t bytes = (size_t)b->bytes;
        b->offset = (int64_t)(at + PAGE + (g->edge == AT_END ? whole(bytes) - bytes : 0));
        at += PAGE + whole(bytes);
    }
    for (int k = 0; k < p->n_kernel; k++) { /* what trips of scans keep lies between such pages, too */
        buffer *room = p->kernel[k].scan ? p->kernel[k].scan->room : NULL;
        if (room && room->where == IN_ARENA)
            room->offset = (int64_t)(at + PAGE), at += PAGE + whole((size_t)room->bytes);
    }
    p->arena_bytes = (int64_t)at + PAGE;
}

void guard_close(const plan *p, const backend *b, const program *made)
{
    dtype stored;
    for (int i = 0; i < p->g->n; i++) {
        if (p->buffer[i].where != IN_ARENA)
            continue;
        const uintptr_t at = (uintptr_t)b->at(made, p->g->node[i], &stored), first = at / PAGE * PAGE,
                        end = whole((size_t)at + (size_t)p->buffer[i].bytes);
        MUST(!mprotect((void *)(first - PAGE), PAGE, PROT_NONE) && !mprotect((void *)end, PAGE, PROT_NONE));
    }
}
