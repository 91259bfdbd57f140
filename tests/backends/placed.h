/* placed.h - one model on several devices: whatever the rules say of devices, the results are those of one device, to
 * the bit where values are small integers. Each device has memory of its own, and what crosses is copied. */
#ifndef TS_TESTS_PLACED_H
#define TS_TESTS_PLACED_H
#include <stdint.h>

/* Random graphs under random rules, between the processor and another device. */
void placed_check(int64_t cases, uint64_t seed, const char *other);
#endif
