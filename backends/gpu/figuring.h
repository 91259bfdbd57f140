/* figuring.h - shared by the files that find figures: what a warp's access comes to.
 * Plans are only read; nothing is kept from one kernel to the next. */
#pragma once
#include "backends/gpu/figures.h"

/* lanes of a warp at most; banks, their bytes; bytes moved at once */
enum { WARP = 64, BANKS = 32, BANK = 4, WIDE = 16 };

typedef struct figuring {
    const plan *p;
    const kernel *k;
    gpu_figures *f;
} figuring;

/* ---- warps.c ---- */
/* What the lanes of a warp touch at once, each so many bytes from there on: sectors of memory, or cycles of banks; and
 * how many it would be if nothing lay apart. */
int64_t warp_sectors(const int64_t *at, int n, int64_t bytes);
int64_t warp_sectors_least(const int64_t *at, int n, int64_t bytes);
int64_t warp_cycles(const int64_t *at, int n, int64_t bytes);
int64_t warp_cycles_least(int n, int64_t bytes);

/* ---- accesses.c: adds what the stage does ---- */
void figure_touch(void *user, const touch *t); /* a figuring */
