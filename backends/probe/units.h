/* units.h - loops that keep one part of a core busy: multiply-add units, loads, stores; and two that are as kernels
 * are: the tile of a product, and a pass over values. A table by instruction set, which benchmarks and back ends
 * share. The room:  clock -> cpus (threads that start together); units: what they run. Nobody here knows of machines
 * or plans. Written as assembly, so that no compiler, no flag and no sanitizer changes what is measured; loads and
 * stores of AArch64 are in C. Every loop leaves registers finite and normal: speed does not depend on values. A
 * constant table; memory that they walk is the caller's. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

typedef struct unit {
    const char *isa; /* as ts_options.isa */
    bool (*present)(void);
    void (*fma_f32)(long trips); /* registers only */
    void (*fma_f64)(long trips);
    double f32_flops, f64_flops;               /* per trip */
    void (*read)(const void *p, size_t bytes); /* p aligned to 64, bytes a multiple of UNIT_STEP, not 0 */
    void (*write)(void *p, size_t bytes);      /* ordinary stores */
    void (*stream)(void *p, size_t bytes);     /* stores that bypass the caches */
    void (*chain)(long trips);                 /* UNIT_CHAIN sums a trip, each of which waits for the one before */
    /* sum[r,c] += rows[step,r] * columns[step,c], in registers: tile_rows numbers by tile_vectors vectors a step, as
     * they lie; both aligned to 64 */
    void (*tile)(const void *columns, const void *rows, long steps);
    int tile_rows, tile_vectors, vector_bytes;
    /* Reads 4 parts and writes 7 sums of them, as Strassen's products take them: parts of so many bytes, a multiple of
     * 64, one behind the other */
    void (*pass)(const void *from, void *to, size_t part);
} unit;
enum { UNIT_STEP = 512, UNIT_CHAIN = 16, PASS_READ = 4, PASS_WRITTEN = 7 };
void unit_flush(void *p, size_t bytes); /* out of all caches; p aligned to 64 */
void unit_cycles(long trips);           /* UNIT_CHAIN cycles a trip: sums of whole numbers that wait for each other */

extern const unit units[];              /* widest first; ends with isa == NULL; the last row is present everywhere */
const unit *unit_find(const char *isa); /* NULL gives the widest present; NULL result: unknown or not present */
