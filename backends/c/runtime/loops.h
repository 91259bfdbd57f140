/* loops.h - trips of scans as tables: which kernels a trip is, where its inputs lie, what is copied before and behind.
 * walk.c makes them by the processor, device_trips.c on a device. Tables are constant; row 0 of loops is none. */
#ifndef LOOPS_H
#define LOOPS_H
#include <stdint.h>

enum { LOOP_SIZES = 4 };
typedef struct loop_address { /* of an input of a trip: from an operand of the loop on; -1: the trip's number */
    int of, row;              /* row: gathered, and cleared where an early end leaves it out */
    long at, step, every;     /* so many trips make a step */
} loop_address;
typedef struct loop_copy { /* from an operand, or a place of the trips' own, to an input of theirs */
    int of, input;
    long at, bytes;
} loop_copy;
typedef struct loop_row { /* kernels; inputs of a trip; copies before all trips, and behind each */
    int first, end, address, inputs, before, behind, last;
    int room, counted; /* the operand where the trips' values are; whether a trip reads its number */
    long trips, until; /* where, of the trips' values, it says that a trip is the last one; -1: it does not */
    int ahead;         /* trips that a device begins before the host asks whether one of them was */
    long per, plus, times[LOOP_SIZES]; /* per 0: trips; else of a run (plus + times * its sizes) / per, at most trips */
} loop_row;

/* Trips of a run that says these sizes */
static inline long loop_made(const loop_row *l, const int64_t *size)
{
    long n = l->plus;
    if (!l->per)
        return l->trips;
    for (int v = 0; v < LOOP_SIZES; v++)
        n += l->times[v] ? l->times[v] * (long)size[v] : 0;
    return n / l->per < 0 ? 0 : n / l->per < l->trips ? n / l->per : l->trips;
}

/* Bytes from the operand to the input in a trip: backwards from the last one of so many */
static inline long loop_place(const loop_address *a, const loop_row *l, long trips, long trip)
{
    const long from = a->step < 0 ? l->trips - trips : 0;
    return a->at + a->step * (from + (trip + a->every - 1) / a->every);
}

static inline long loop_rows(long trips, long every)
{
    return trips ? (trips + every - 2) / every + 1 : 0;
}

/* Bytes from *from on of rows that are left out where so many trips were made: they are zeros */
static inline long loop_left(const loop_address *a, const loop_row *l, long trips, long done, long *from)
{
    const long first = loop_rows(done, a->every), end = loop_rows(trips, a->every);
    *from = a->at + a->step * (a->step < 0 ? l->trips - 1 : first);
    return a->row ? (a->step < 0 ? -a->step : a->step) * (end - first) : 0;
}
#endif
