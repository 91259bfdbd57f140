/* memory.c - device memory: an address range that the host cannot touch, backed by
 * a second mapping; every allocation has exact bounds and a gap behind it. */
#include "tests/gpusim/sim.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { GRANULE = 256 };
static const uint64_t ARENA = 64ull << 30;

uint64_t mem_base, mem_limit;
uint8_t *mem_backing, *mem_valid;
shadow *mem_shadow;
static uint32_t *owner; /* allocation number + 1 for each granule */
static allocation *allocs;
static uint64_t *room;
static int nallocs, cap_allocs; /* room: bytes up to the next allocation's gap */
static uint64_t bump, used;

static void *reserve(uint64_t size, int prot)
{
    void *p = mmap(NULL, size, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

bool mem_reserve(void)
{
    if (mem_base)
        return true;
    uint8_t *window = reserve(ARENA, PROT_NONE);
    mem_backing = reserve(ARENA, PROT_READ | PROT_WRITE);
    mem_valid = reserve(ARENA, PROT_READ | PROT_WRITE);
    owner = reserve(ARENA / GRANULE * sizeof *owner, PROT_READ | PROT_WRITE);
    if (sim_opt.global_races)
        mem_shadow = reserve(ARENA * sizeof *mem_shadow, PROT_READ | PROT_WRITE);
    if (!window || !mem_backing || !mem_valid || !owner || (sim_opt.global_races && !mem_shadow))
        return false;
    mem_base = (uint64_t)(uintptr_t)window;
    mem_limit = mem_base + ARENA;
    bump = GRANULE;
    return true;
}

/* The address is a multiple of 256 but not of 512: what cuMemAlloc promises, no more. */
uint64_t mem_alloc(uint64_t size)
{
    if (!mem_reserve() || size == 0 || size > sim_opt.memory - used)
        return 0;
    uint64_t at = (bump + 2 * GRANULE - 1) / (2 * GRANULE) * (2 * GRANULE) + GRANULE,
             whole = (size + GRANULE - 1) / GRANULE * GRANULE;
    int n = nallocs;
    if (at + whole + GRANULE <= ARENA) {
        bump = at + whole + GRANULE;
        if (nallocs == cap_allocs) {
            cap_allocs = cap_allocs ? cap_allocs * 2 : 256;
            allocs = reallocarray(allocs, (size_t)cap_allocs, sizeof *allocs);
            room = reallocarray(room, (size_t)cap_allocs, sizeof *room);
        }
        room[nallocs++] = whole;
    } else { /* all addresses used once: take the tightest freed place */
        n = -1;
        for (int i = 0; i < nallocs; i++)
            if (!allocs[i].live && room[i] >= whole && (n < 0 || room[i] < room[n]))
                n = i;
        if (n < 0)
            return 0;
        at = allocs[n].base - mem_base;
        for (uint64_t g = 0; g < room[n] / GRANULE; g++)
            owner[at / GRANULE + g] = 0;
    }
    allocs[n] = (allocation){mem_base + at, size, true, device_now()};
    used += size;
    for (uint64_t g = 0; g < whole / GRANULE; g++)
        owner[at / GRANULE + g] = (uint32_t)n + 1;
    memset(mem_backing + at, 0xcd, size < 65536 ? size : 65536); /* stale contents are never zero by luck */
    return mem_base + at;
}

int mem_free(uint64_t base)
{
    const allocation *a = mem_find(base);
    if (!a || a->base != base || !a->live)
        return -1;
    allocs[a - allocs].live = false;
    used -= a->size;
    uint64_t at = base - mem_base, first = (at + 4095) & ~4095ull, last = (at + a->size) & ~4095ull;
    if (last > first) { /* whole pages read as zero when touched again */
        madvise(mem_backing + first, last - first, MADV_DONTNEED);
        madvise(mem_valid + first, last - first, MADV_DONTNEED);
        mem_mark_valid(base, first - at, 0);
        mem_mark_valid(mem_base + last, at + a->size - last, 0);
    } else
        mem_mark_valid(base, a->size, 0);
    return 0;
}

const allocation *mem_find(uint64_t addr)
{
    if (addr < mem_base || addr >= mem_limit)
        return NULL;
    uint32_t n = owner[(addr - mem_base) / GRANULE];
    return n ? &allocs[n - 1] : NULL;
}

uint8_t *mem_host(uint64_t addr, uint64_t size)
{
    const allocation *a = mem_find(addr);
    if (!a || !a->live || addr + size < addr || addr + size > a->base + a->size)
        return NULL;
    return mem_backing + (addr - mem_base);
}

void mem_mark_valid(uint64_t addr, uint64_t size, int valid)
{
    memset(mem_valid + (addr - mem_base), valid, size);
}
void mem_copy_valid(uint64_t dst, uint64_t src, uint64_t size)
{
    memmove(mem_valid + (dst - mem_base), mem_valid + (src - mem_base), size);
}
void mem_usage(uint64_t *in_use, uint64_t *total)
{
    *in_use = used;
    *total = sim_opt.memory;
}
int mem_live_count(void)
{
    int n = 0;
    for (int i = 0; i < nallocs; i++)
        n += allocs[i].live;
    return n;
}
