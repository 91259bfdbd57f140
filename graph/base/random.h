/* random.h - counter-based random numbers: pure functions of seed and index, the same bits everywhere. There is no
 * state, so any part of a sequence is made by whoever needs it. */
#pragma once
#include <stdint.h>

/* Threefry-2x32-20: key and counter are the words of seed and index, the lower first, as are those of the result. */
uint64_t random_bits(uint64_t seed, uint64_t index);
double random_unit(uint64_t seed, uint64_t index); /* [-1, 1) in steps of 2^-23, from the top 24 bits */
