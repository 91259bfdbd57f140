/* random.c - Threefry-2x32 of 20 rounds (Salmon, Moraes, Dror, Shaw 2011, "Parallel random numbers: as easy as 1, 2,
 * 3"). */
#include "graph/base/random.h"

uint64_t random_bits(uint64_t seed, uint64_t index)
{
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32), k2 = 0x1BD11BDA ^ k0 ^ k1;
    uint32_t x = (uint32_t)index + k0, y = (uint32_t)(index >> 32) + k1;
    for (uint32_t group = 1; group <= 5; group++) {
        for (int round = 0; round < 4; round++) {
            /* rotations by 13, 15, 26, 6, then 17, 29, 16, 24 */
            const uint32_t by = (group % 2 ? 0x061A0F0Du : 0x18101D11u) >> 8 * round & 31;
            x += y;
            y = (y << by | y >> (32 - by)) ^ x;
        }
        const uint32_t first = k0;
        k0 = k1, k1 = k2, k2 = first;
        x += k0, y += k1 + group;
    }
    return (uint64_t)y << 32 | x;
}

double random_unit(uint64_t seed, uint64_t index)
{
    /* 24 bits, so that the number is exact in f32. */
    return (double)(random_bits(seed, index) >> 40) * 0x1p-23 - 1.0;
}
