/* lane_value.h - whole numbers of the statements that are printed, as each lane of a warp has them: where it reads and
 * writes, from where to where it walks, what conditions say. A value is made of an expression once, by what names stand
 * for there; its numbers are worked out in one trip of the loops around it after the other.
 *
 * Names and values are of the arena. A warp owns the numbers, which stay until it is asked again. Where data decide, or
 * who begins, nothing is known: such a value is 0 where it may be GUESSED. */
#pragma once
#include "backends/codegen/emit.h"

enum { LANES = 64, MANY = 64 }; /* at most: lanes of a warp; loops around a value */

typedef struct meaning { /* what a name stands for, by those that were known then */
    const struct meaning *up, *in;
    const char *is;
    const cexpr *value; /* NULL: the number of loop `loop` */
    int loop;
} meaning;

typedef struct lane_value { /* a whole number by lane */
    enum { OF_NUMBER, OF_LOOP, OF_LANE, OF_SUM, OF_FLOOR, OF_WHOLE, OF_FN, OF_SWIZZLE, OF_TABLE } kind;
    int n;
    int64_t number;
    const struct lane_value *arg[MAX_ARG];
    const struct lane_value *const *all; /* OF_SUM */
    const int64_t *times;
    whole_op whole;
    const fn *fn;
    uint64_t loops; /* that it depends on */
    int slot;       /* where its numbers are */
} lane_value;

typedef struct warp { /* its lanes, in one trip of the loops around them */
    const emitter *m;
    arena *mem;
    int n; /* lanes; the first one's number */
    int64_t first, loop[MANY][LANES];
    uint64_t changed; /* loops that are not where they were; all: nothing is known yet */
    int n_slot, room;
    int64_t (*slot)[LANES];
} warp;
void warp_make(warp *w, const emitter *m, arena *mem); /* both for the warp's life */
void warp_free(warp *w);

/* A name beside those in `up`; value is by those in `in` */
const meaning *meaning_add(warp *w, const meaning *up, const char *is, const cexpr *value, const meaning *in,
                           int number);
/* Of what nobody says: 0. SURE: then nothing at all is known. WHERE: but for where memory begins, which stays */
typedef enum known { GUESSED, SURE, WHERE } known;
const lane_value *lane_value_of(warp *w, const cexpr *x, const meaning *in, known sure); /* NULL: it is not known */
/* Of an element, or a pointer: its address, less where the memory begins if nobody says; of a sum: what it is */
const lane_value *lane_value_place(warp *w, const cexpr *x, const meaning *in, known sure);
/* b is what a is, if loop i of a's is loop number[i] of b's */
bool lane_value_same(const lane_value *a, const lane_value *b, const int *number);

/* ---- one look at some values after the other ---- */
void warp_forget(warp *w); /* all values that were made: others come now */
/* How many trips a loop makes, which goes from one value to another, NULL: it says itself how many */
int64_t warp_trips(warp *w, const stmt *s, const lane_value *from, const lane_value *to);
void warp_enter(warp *w, int64_t first); /* at lane number `first` of the group */
/* Puts loop `which` to `at` behind where it begins. there, by lane: cleared where it has ended */
void warp_loop(warp *w, int which, int64_t at, const lane_value *from, const lane_value *to, bool *there);
const int64_t *warp_numbers(warp *w, const lane_value *t); /* by lane */
void warp_leave(warp *w);                                  /* all numbers that matter were asked for */
