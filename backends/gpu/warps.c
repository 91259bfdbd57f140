/* warps.c - what the lanes of one warp touch together. */
#include "backends/gpu/figuring.h"

static bool is_new(const int64_t *seen, int n, int64_t what) /* searched backwards: most share the last one */
{
    while (n && seen[n - 1] != what)
        n--;
    return !n;
}

int64_t warp_sectors(const int64_t *at, int n, int64_t bytes)
{
    int64_t seen[WARP * (WIDE / SECTOR + 2)];
    int count = 0;
    for (int i = 0; i < n; i++)
        for (int64_t sector = at[i] & -SECTOR; sector < at[i] + bytes && count < COUNT(seen); sector += SECTOR)
            if (is_new(seen, count, sector))
                seen[count++] = sector;
    return count;
}

int64_t warp_sectors_least(const int64_t *at, int n, int64_t bytes)
{
    int64_t seen[WARP];
    int count = 0;
    for (int i = 0; i < n; i++)
        if (is_new(seen, count, at[i]))
            seen[count++] = at[i];
    return int_ceil_div(count * bytes, SECTOR);
}

/* Cycles in which shared memory serves a warp: each bank gives one word a cycle, to all lanes that ask for that word.
 * Wider accesses are served in turns of as many lanes as fill the banks. */
int64_t warp_cycles(const int64_t *at, int n, int64_t bytes)
{
    const int together = (int)(BANKS * BANK / (bytes > BANK ? bytes : BANK));
    int64_t cycles = 0;
    for (int first = 0; first < n; first += together) {
        int64_t word[BANKS * 2], most = 1;
        int in_bank[BANKS] = {0}, count = 0;
        for (int i = first; i < n && i < first + together; i++)
            for (int64_t w = at[i] & -BANK; w < at[i] + bytes; w += BANK)
                if (count < COUNT(word) && is_new(word, count, w)) {
                    word[count++] = w;
                    const int now = ++in_bank[w / BANK & (BANKS - 1)];
                    most = now > most ? now : most;
                }
        cycles += most;
    }
    return cycles;
}

int64_t warp_cycles_least(int n, int64_t bytes)
{
    return int_ceil_div(n, BANKS * BANK / (bytes > BANK ? bytes : BANK));
}
