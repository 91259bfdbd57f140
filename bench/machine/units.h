/* units.h - loops that keep one part of a core busy: multiply-add units, loads, stores. A table by instruction set.
 * Written as assembly, so that no compiler, no flag and no sanitizer changes what is measured; loads and stores of
 * AArch64 are in C. Every loop leaves registers finite and normal: speed does not depend on values. A constant table;
 * memory that they walk is the caller's. */
#ifndef BENCH_UNITS_H
#define BENCH_UNITS_H
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
} unit;
enum { UNIT_STEP = 512 };

extern const unit units[];              /* widest first; ends with isa == NULL; the last row is present everywhere */
const unit *unit_find(const char *isa); /* NULL gives the widest present; NULL result: unknown or not present */
#endif
