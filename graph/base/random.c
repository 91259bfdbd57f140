/* random.c - random numbers as a pure function of seed and index: no state, in any order, for anybody, the same. */
#include "graph/base/random.h"

uint64_t random_bits(uint64_t seed, uint64_t index)
{
    /* SplitMix64 (Steele, Lea, Flood 2014): the step is the odd number nearest 2^64 / golden ratio, so the streams of
     * small seeds start far apart; then the finaliser, with variant 13 of the constants by David Stafford. */
    const uint64_t step = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t z = seed * step + index + step;
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

double random_unit(uint64_t seed, uint64_t index)
{
    /* 24 bits, so that the number is exact in f32. */
    return (double)(random_bits(seed, index) >> 40) * 0x1p-23 - 1.0;
}
