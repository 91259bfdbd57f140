/* loops.h - trips of scans as tables: which kernels a trip is, where its inputs lie, what is copied before and behind.
 * walk.c makes them by the processor, device_trips.c on a device. Tables are constant; row 0 of loops is none. */
#ifndef LOOPS_H
#define LOOPS_H
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
} loop_row;

static inline long loop_rows(long trips, long every)
{
    return trips ? (trips + every - 2) / every + 1 : 0;
}

/* Bytes from *from on of rows that are left out where so many trips were made: they are zeros */
static inline long loop_left(const loop_address *a, long trips, long done, long *from)
{
    const long first = loop_rows(done, a->every), end = loop_rows(trips, a->every);
    *from = a->at + a->step * (a->step < 0 ? end - 1 : first);
    return a->row ? (a->step < 0 ? -a->step : a->step) * (end - first) : 0;
}
#endif
