/* figuring.h - shared by the files that find figures: what a warp's access comes to, and how often loops are walked.
 * Plans are only read; nothing is kept from one kernel to the next. */
#pragma once
#include "backends/gpu/figures.h"

/* lanes of a warp at most; banks, their bytes; bytes moved at once */
enum { WARP = 64, BANKS = 32, BANK = 4, WIDE = 16 };

typedef struct figuring {
    const plan *p;
    const kernel *k;
    const stage *s;
    gpu_figures *f;
} figuring;

/* ---- warps.c ---- */
/* What the lanes of a warp touch at once, each so many bytes from there on: sectors of memory, or cycles of banks; and
 * how many it would be if nothing lay apart. */
int64_t warp_sectors(const int64_t *at, int n, int64_t bytes);
int64_t warp_sectors_least(const int64_t *at, int n, int64_t bytes);
int64_t warp_cycles(const int64_t *at, int n, int64_t bytes);
int64_t warp_cycles_least(int n, int64_t bytes);

/* ---- trips.c ---- */
double trips_shared(const kernel *k, int upto); /* of loops that stages share, in one group */
/* Of loops of the stage itself up to that one: axis by axis, as those within end where those around do; of an axis that
 * a mask ends, the part that is walked. */
double trips_own(const kernel *k, const stage *s, int upto);
/* A value is loaded by each warp within the last serial loop that moves it, once for every unrolled trip that does. */
double trips_of_value(const kernel *k, const stage *s, uint32_t axes);
bool trips_dealt(const loop *q); /* to groups: one of them has one trip */

/* ---- accesses.c: adds what the stage does ---- */
void figure_touch(void *user, const touch *t); /* a figuring */
/* ---- room.c ---- */
int64_t room_registers(const figuring *c, const touching *told); /* of a lane */
/* Of a matrix unit: eight rows of 16 bytes at a time, of a slice or of what an earlier stage left (g NULL) */
void figure_fragments(const figuring *c, int load, const staging *g, const unit_loops *u);
