/* rings.h - several slices in a ring: those of later trips come while one is summed. For the tile's loops alone.
 * At the head of a trip its slice is there and the next `slots - 1` are on their way; a slot is written again only
 * behind the barrier that ends the trip which read it. A ring is a plain value of the loop's writer; what it points to
 * is of the emitter's arena. */
#pragma once
#include "backends/codegen/emit.h"
#include "schedule/nest/slice.h"

typedef struct ring {
    int loop, slots, n;
    int64_t trips;      /* at most */
    const cexpr *count; /* of them, as the call says; NULL: all */
    later next;
    const affine *inner, *plain; /* of the loop's axis, around it */
    bool last;                   /* the trip at hand is the last one for certain */
    source to[MAX_STAGING];
    slice lies[MAX_STAGING];
    copying copy[MAX_STAGING];
    int map[MAX_STAGING]; /* of copies that are BOXED: which one of the kernel's it is */
    int64_t barriers;     /* bytes in scratch: where theirs are */
} ring;
bool ring_open(emitter *m, int l, int64_t trips, const cexpr *count, ring *r); /* at loop l of the tile; false: none */
void ring_trip(emitter *m, ring *r, const char *trip, bool last);              /* at the head of each trip */
void ring_send(emitter *m);                                                    /* within: m->tile.sends */
void ring_turn(emitter *m, ring *r);                                           /* at its end */
void ring_close(emitter *m, const ring *r); /* behind the loop: nothing is on its way any more */
/* boxes.c: copies that the device makes by itself, into a ring's slices */
bool boxes_any(const ring *r);
void boxes_around(emitter *m); /* in front of the tile's folds: opens what holds them where rings are within loops */
void boxes_leave(emitter *m);  /* behind them */
void boxes_find(emitter *m, ring *r);  /* which copies they are; room for the barriers */
void boxes_begin(emitter *m, ring *r); /* before the first ones */
/* Of the trip at which loops stand: into that slot; when: they are there at all, NULL: always */
void boxes_send(emitter *m, const ring *r, const cexpr *slot, const cexpr *when);
void boxes_wait(emitter *m, const ring *r, const cexpr *slot); /* until those in the slot have come */
void boxes_end(emitter *m, const ring *r);                     /* behind the loop */
/* rings.c */
const char *ring_name(const emitter *m, const char *what, const ring *r);   /* a variable of the ring's own */
const cexpr *ring_value(const emitter *m, const char *what, const ring *r); /* what it holds */
const cexpr *ring_place(emitter *m, const ring *r, int i, const cexpr *slot, bool written); /* of slice i in the slot */
/* copy.c */
bool copy_follows(const emitter *m, const staging *g, int l); /* it is copied at that loop of the tile, in a ring */
/* Of a slice of the stage, how much is to be there along each axis where zeros stand for what is not; or NULL */
const int64_t *copy_filled(const slice *y);
source copy_place(emitter *m, const stage *s, const staging *g, slice *y); /* room in scratch for its slices */
