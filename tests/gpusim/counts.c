/* counts.c - what kernels did: instructions, sectors of global memory, passes over the banks of shared memory. With
 * SIMCUDA_COUNTS=FILE a line of JSON for each kernel, of all its launches together, when the process ends. */
#include "tests/gpusim/sim.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECTOR = 32, BANKS = 32, WORD = 4, MOST_SECTORS = 2 * LANES };

typedef struct counter_row {
    char name[256];
    counters all;
} counter_row;
static counter_row *rows;
static int n_row;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Distinct sectors of the lanes' bytes; they are aligned to their size. */
static unsigned sectors_of(uint32_t m, const uint64_t *addr, unsigned bytes)
{
    uint64_t seen[MOST_SECTORS];
    unsigned n = 0;
    for (uint32_t r = m; r; r &= r - 1) {
        const uint64_t s = addr[__builtin_ctz(r)] / SECTOR;
        unsigned i = 0;
        while (i < n && seen[i] != s)
            i++;
        if (i == n)
            seen[n++] = s;
    }
    (void)bytes;
    return n;
}

void count_global(warp *w, uint32_t m, const uint64_t *addr, unsigned bytes, int kind)
{
    counters *c = &w->blk->counts;
    const unsigned sectors = sectors_of(m, addr, bytes), asked = bytes * (unsigned)__builtin_popcount(m);
    if (w->blk->uncounted)
        return;
    if (kind != A_WRITE)
        c->reads++, c->read_sectors += sectors, c->read_bytes += asked;
    if (kind != A_READ)
        c->writes++, c->write_sectors += sectors, c->write_bytes += asked;
}

/* Passes that lanes [first, end) take: the most distinct words that they want of one bank */
static unsigned passes_of(uint32_t m, const uint64_t *addr, unsigned bytes, int first, int end)
{
    uint64_t word[BANKS][LANES];
    unsigned n[BANKS] = {0}, most = 0;
    const unsigned words = bytes < WORD ? 1 : bytes / WORD;
    for (int l = first; l < end; l++)
        for (unsigned k = 0; m >> l & 1 && k < words; k++) {
            const uint64_t at = addr[l] / WORD + k;
            const unsigned bank = (unsigned)(at % BANKS);
            unsigned i = 0;
            while (i < n[bank] && word[bank][i] != at)
                i++;
            if (i == n[bank])
                word[bank][n[bank]++] = at;
            most = n[bank] > most ? n[bank] : most;
        }
    return most;
}

/* Accesses of 8 and 16 bytes go by halves and quarters of a warp, which take a pass each at least. */
void count_shared(warp *w, uint32_t m, const uint64_t *addr, unsigned bytes)
{
    counters *c = &w->blk->counts;
    const int lanes = bytes <= WORD ? LANES : (int)(LANES * WORD / bytes);
    if (w->blk->uncounted)
        return;
    c->shared++;
    for (int l = 0; l < LANES; l += lanes) {
        const unsigned passes = passes_of(m, addr, bytes, l, l + lanes);
        c->passes += passes;
        c->conflicts += passes ? passes - 1 : 0;
    }
}

/* ---- of all blocks ---- */
static void write_all(void)
{
    FILE *f = fopen(getenv("SIMCUDA_COUNTS") ? getenv("SIMCUDA_COUNTS") : "", "w");
    for (int i = 0; f && i < n_row; i++) {
        const counters *c = &rows[i].all;
        fprintf(f,
                "{\"kernel\":\"%s\",\"blocks\":%llu,\"instructions\":%llu,\"tensor\":%llu,\"products\":%llu,"
                "\"barriers\":%llu,"
                "\"reads\":%llu,\"read_sectors\":%llu,\"read_bytes\":%llu,\"writes\":%llu,\"write_sectors\":%llu,"
                "\"write_bytes\":%llu,\"shared\":%llu,\"passes\":%llu,\"conflicts\":%llu,\"bulk\":%llu,\"bulk_bytes\":%"
                "llu}\n",
                rows[i].name, (unsigned long long)c->blocks, (unsigned long long)c->instructions,
                (unsigned long long)c->tensor, (unsigned long long)c->products, (unsigned long long)c->barriers,
                (unsigned long long)c->reads, (unsigned long long)c->read_sectors, (unsigned long long)c->read_bytes,
                (unsigned long long)c->writes, (unsigned long long)c->write_sectors, (unsigned long long)c->write_bytes,
                (unsigned long long)c->shared, (unsigned long long)c->passes, (unsigned long long)c->conflicts,
                (unsigned long long)c->bulk, (unsigned long long)c->bulk_bytes);
    }
    if (f)
        fclose(f);
}

static counters *row_of(const char *name)
{
    int i = 0;
    while (i < n_row && strcmp(rows[i].name, name))
        i++;
    if (i == n_row) {
        if (!n_row)
            atexit(write_all);
        rows = reallocarray(rows, (size_t)n_row + 1, sizeof *rows);
        rows[n_row] = (counter_row){0};
        snprintf(rows[n_row++].name, sizeof rows->name, "%s", name);
    }
    return &rows[i].all;
}

void counts_take(block *b)
{
    const uint64_t *from = (const uint64_t *)&b->counts;
    for (int i = 0; i < b->nwarps; i++)
        b->counts.instructions += b->warps[i].steps;
    pthread_mutex_lock(&lock);
    uint64_t *to = (uint64_t *)row_of(b->launch->fn->name);
    for (size_t i = 0; i < sizeof b->counts / sizeof *to; i++)
        to[i] += from[i];
    pthread_mutex_unlock(&lock);
}
