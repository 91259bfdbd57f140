/* device_trips.h - all kernels of a program in order, with the trips of its loops: which are launched, and where their
 * operands lie, which moves from trip to trip. Values stay on the device; what the host hears of them is whether a trip
 * was the last one. The driver's calls are done in the order in which they are made. Tables, places and calls are the
 * caller's, borrowed for the call; nothing is kept. */
#ifndef DEVICE_TRIPS_H
#define DEVICE_TRIPS_H
#include "backends/emit/runtime/device_run.h"

/* A place of the device's memory: bytes from where one piece of it begins. Piece 0 is the arena, leaves follow, inputs,
 * then the trips' numbers, COUNT_BYTES for each row of loop: behind each, of trips that are launched ahead, whether one
 * was the last. */
enum { MOST_AHEAD = 16, COUNT_BYTES = 8 + MOST_AHEAD };
typedef struct device_at {
    int piece;
    long at;
} device_at;
int device_counts(const device_program *p); /* the piece of the trips' numbers */
/* Where the operands of a kernel of the plan are. */
void device_places(const device_program *p, int kernel, device_at *out);

/* How many calls device_kernels makes for all kernels, if no more than `most`; -1: it is more, or the host has to hear
 * of trips before it goes on. */
long device_steps(const device_program *p, long most);

typedef struct device_calls { /* each gives 0 where it failed */
    void *user;
    /* outer: the kernel of the plan that it is, or is a trip's of. Behind the operands of one that asks is the place of
     * the byte that it asks. */
    int (*launch)(void *user, int kernel, int outer, const device_at *operand);
    int (*copy)(void *user, device_at to, device_at from, long bytes);
    int (*clear)(void *user, device_at at, long bytes);
    int (*count)(void *user, device_at at, long trip);  /* 8 bytes there become the number */
    int (*truth)(void *user, device_at at, int *truth); /* of one byte, when all before it is done */
} device_calls;
/* Kernels first..end-1 of the plan; 0: a call failed, or there is no memory for its operands' places. */
int device_kernels(const device_program *p, const device_calls *c, int first, int end);
#endif
