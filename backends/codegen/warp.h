/* warp.h - integers of the statements that are printed (walk.h), as each lane of a warp has them: where it reads and
 * writes, from where to where it walks, what conditions say. They are worked out in one trip of the loops around them
 * after the other; of loops that did not move nothing is worked out again.
 *
 * All of it is of the arena. What nobody knows is 0. */
#pragma once
#include "backends/codegen/walk.h"

enum { LANES = 64 }; /* of a warp, at most */

typedef struct warp { /* its lanes, in one trip of the loops around them */
    const emitter *m;
    arena *mem;
    int n; /* lanes; the first one's number */
    int64_t first, loop[DEEP][LANES];
    uint64_t changed; /* loops that are not where they were; all: nothing is known yet */
    int round, n_row, cap;
    int64_t (**row)[LANES]; /* numbers of those that were asked for */
} warp;
void warp_make(warp *w, const emitter *m, arena *mem); /* both for the warp's life */

/* ---- one look at some integers after the other ---- */
void warp_forget(warp *w); /* others come now */
/* How many trips a loop makes, which goes from one to another, NULL: it says itself how many */
int64_t warp_trips(warp *w, const stmt *s, integer *from, integer *to);
void warp_enter(warp *w, int64_t first); /* at lane number `first` of the group */
/* Puts loop `which` to `at` behind where it begins. there, by lane: cleared where it has ended */
void warp_loop(warp *w, int which, int64_t at, integer *from, integer *to, bool *there);
const int64_t *warp_numbers(warp *w, integer *t); /* by lane */
void warp_leave(warp *w);                         /* all numbers that matter were asked for */
