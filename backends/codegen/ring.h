/* ring.h - several slices in a ring: those of later trips come while one is summed. For the tile's loops alone. */
#ifndef TS_RING_H
#define TS_RING_H
#include "backends/codegen/emit.h"
#include "schedule/slice.h"

typedef struct ring {
    int loop, slots, n;
    int64_t trips;     /* at most */
    const char *count; /* of them, as text */
    later next;
    const lin *inner, *plain; /* of the loop's axis, around it */
    bool last;                /* the trip at hand is the last one for certain */
    source to[MAX_STAGING];
    slice lies[MAX_STAGING];
    copying copy[MAX_STAGING];
} ring;
bool ring_open(emitter *m, int l, int64_t trips, const char *count, ring *r); /* at loop l of the tile; false: none */
void ring_trip(emitter *m, ring *r, const char *trip, bool last);             /* at the head of each trip */
void ring_turn(emitter *m, ring *r);                                          /* at its end */
void ring_close(emitter *m, const ring *r); /* behind the loop: nothing is on its way any more */
/* copy.c */
bool copy_follows(const emitter *m, const staging *g, int l); /* it is copied at that loop of the tile, in a ring */
/* Of a slice of the stage, how much is to be there along each axis where zeros stand for what is not; or NULL */
const int64_t *copy_filled(const slice *y);
source copy_place(emitter *m, const stage *s, const staging *g, slice *y); /* room in scratch for its slices */
#endif
