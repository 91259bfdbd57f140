/* arena.c - memory for descriptions: a list of chunks, filled from the front, freed all at once. Chunks come zeroed
 * from calloc and are never reused, so nothing has to be cleared again. Descriptions are small: running out of memory
 * for one is not a state that callers could handle, so it ends the process. */
#include "graph/base/base.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __has_feature
#define ADDRESS_CHECKED __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define ADDRESS_CHECKED 1
#endif
#if ADDRESS_CHECKED /* each block has poison behind it: what runs over its end is found as with malloc */
#include <sanitizer/asan_interface.h>
enum { RED_ZONE = 16 };
#else
#define ASAN_POISON_MEMORY_REGION(at, size)
#define ASAN_UNPOISON_MEMORY_REGION(at, size)
enum { RED_ZONE = 0 };
#endif

enum { ALIGN = 16, FIRST_CHUNK = 4 << 10, LARGEST_CHUNK = 1 << 20 };

struct chunk {
    struct chunk *next;
    size_t used, size;
    alignas(ALIGN) unsigned char at[];
};

static struct chunk *chunk_make(const arena *mem, size_t size)
{
    /* Chunks double, so that many small arenas stay small and a large one makes few calls. */
    size_t want = mem->head ? mem->head->size * 2 : FIRST_CHUNK;
    if (want > LARGEST_CHUNK)
        want = LARGEST_CHUNK;
    if (want < size)
        want = size;
    size_t bytes;
    struct chunk *c = size_add(want, sizeof(struct chunk), &bytes) ? calloc(1, bytes) : NULL;
    MUST(c != NULL);
    c->size = want;
    ASAN_POISON_MEMORY_REGION(c->at, want);
    return c;
}

void *arena_get(arena *mem, size_t size)
{
    size_t rounded;
    MUST(size_add(size, ALIGN - 1 + RED_ZONE, &rounded));
    rounded -= rounded % ALIGN;
    struct chunk *c = mem->head;
    if (!c || c->size - c->used < rounded) {
        c = chunk_make(mem, rounded);
        /* A block too large for an ordinary chunk goes behind the head, which keeps its free rest. */
        if (mem->head && rounded > LARGEST_CHUNK / 2) {
            c->next = mem->head->next;
            mem->head->next = c;
        } else {
            c->next = mem->head;
            mem->head = c;
        }
    }
    void *p = c->at + c->used;
    c->used += rounded;
    ASAN_UNPOISON_MEMORY_REGION(p, size);
    return p;
}

void *arena_array(arena *mem, size_t count, size_t size)
{
    size_t bytes;
    MUST(size_mul(count, size, &bytes));
    return arena_get(mem, bytes);
}

void *arena_joined(arena *mem, const void *a, int n, const void *b, int more, size_t size)
{
    char *all = arena_array(mem, (size_t)n + (size_t)more, size);
    if (n)
        memcpy(all, a, (size_t)n * size);
    if (b && more)
        memcpy(all + (size_t)n * size, b, (size_t)more * size);
    return all;
}

static int grown_cap(int n)
{
    int64_t cap;
    MUST(int_mul(2, (int64_t)n + 8, &cap) && cap <= INT32_MAX);
    return (int)cap;
}

void *arena_grown(arena *mem, const void *list, int n, int *cap, size_t size)
{
    if (n < *cap)
        return (void *)(uintptr_t)list;
    return arena_joined(mem, list, n, NULL, (*cap = grown_cap(n)) - n, size);
}

void *heap_array(size_t count, size_t size)
{
    void *list = calloc(count, size);
    MUST(list);
    return list;
}

void heap_free(void *pointer)
{
    void *held;
    memcpy(&held, pointer, sizeof held);
    free(held);
}

void *heap_grown(void *list, int n, int *cap, size_t size)
{
    if (n < *cap)
        return list;
    const int before = *cap;
    char *more = reallocarray(list, (size_t)(*cap = grown_cap(n)), size);
    MUST(more);
    memset(more + (size_t)before * size, 0, (size_t)(*cap - before) * size);
    return more;
}

char *arena_string(arena *mem, const char *s)
{
    size_t n = strlen(s) + 1;
    return memcpy(arena_get(mem, n), s, n);
}

char *arena_format(arena *mem, const char *fmt, ...)
{
    char first[256]; /* most are short: formatted once, then copied */
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(first, sizeof first, fmt, args);
    va_end(args);
    MUST(n >= 0);
    size_t size = (size_t)n + 1;
    char *s = arena_get(mem, size);
    if (size <= sizeof first)
        memcpy(s, first, size);
    else
        vsnprintf(s, size, fmt, again);
    va_end(again);
    return s;
}

void arena_free(arena *mem)
{
    for (struct chunk *c = mem->head, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    mem->head = NULL;
}

void arena_take(arena *mem, arena *from)
{
    struct chunk **end = &from->head;
    while (*end)
        end = &(*end)->next;
    *end = mem->head;
    if (from->head) /* the rest of its chunk is free */
        mem->head = from->head;
    from->head = NULL;
}

size_t arena_bytes(const arena *mem)
{
    size_t n = 0;
    for (const struct chunk *c = mem->head; c; c = c->next)
        n += c->used;
    return n;
}
