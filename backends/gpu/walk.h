/* walk.h - the trips of a kernel's loops, one after another, and where a stage's axes and values are in each: what
 * figures are counted from. Of many trips some are looked at, spread evenly over all: each stands for its share.
 *
 * depth counts loops as fit.h does: those that stages share, then the stage's own, from 1 on. A walk is a plain
 * value; plan and kernel are only read. */
#ifndef TS_GPU_WALK_H
#define TS_GPU_WALK_H
#include "backends/gpu/figures.h"
#include "graph/affine/index.h"

enum { MAX_DEPTH = 2 * MAX_LOOP + 1, MAX_WALKED = MAX_DEPTH + 4 };

/* walk: so many trips of each of n loops, the outermost first; a number is the number of one of these. */
typedef struct walk {
    int n;
    int64_t trips[MAX_WALKED];
    double all;  /* combinations of numbers; set by walk_begin */
    int64_t few; /* that are looked at */
} walk;
void walk_begin(walk *w);
void walk_pick(const walk *w, int64_t i, int64_t number[MAX_WALKED]); /* i < few */

/* standing: the axes of a stage where each loop is in one of its trips. */
typedef struct standing {
    int64_t at[MAX_AXIS];   /* the element */
    int64_t own[MAX_AXIS];  /* what loops behind `from` add to that */
    int64_t left[MAX_AXIS]; /* elements from there on, to the end of the axis or of a step around */
    int64_t run;            /* the same of the axis that loop `run` walks, in front of that loop */
    uint32_t rest;          /* loops over lanes, counted from the first one, that are in a last trip with less */
    bool full;              /* no loop ends within a step, and lanes have all their trips: others are as far apart */
} standing;
typedef struct stand_at { /* what does not change from trip to trip */
    const kernel *k;
    const stage *s;
    int upto, from, run;         /* depths: loops entered; see standing */
    const loop *loop[MAX_DEPTH]; /* by depth; NULL: it walks no axis of the stage */
} stand_at;
void stand_begin(stand_at *w); /* fills in the loops */
/* trip: by depth. False: there is no such trip */
bool walk_stand(const stand_at *w, const int64_t trip[MAX_DEPTH], standing *out);

/* ---- spot.c ---- */
enum { MAX_WAYS = 8, MAX_WHEN = 8 };
typedef struct way { /* conditions that all hold, or not, where an operand is read */
    int n;
    const expr *when[MAX_WHEN];
    bool holds[MAX_WHEN];
} way;

/* spot: where elements of an operand or the result lie, and whether they are touched. */
typedef struct spot {
    arena mem;
    const affine *at;         /* in elements, of the stage's axes as variables; NULL: by strides of axes alone */
    int64_t stride[MAX_AXIS]; /* bytes from one element to the next along an axis */
    int64_t size;             /* of an element */
    bool even;                /* by strides alone, and whatever conditions say */
    int n_way;                /* 0: whatever conditions say */
    way way[MAX_WAYS];        /* or this one, or that one */
} spot;
/* Of global memory, as the value lies there; load: MAX_LOADS: the result. */
void spot_make(spot *o, const plan *p, const stage *s, int load);
void spot_conditions(spot *o, const expr *in, const expr *load); /* those of the expression that reads it */
void spot_under(spot *o, const expr *when);                      /* and only where that holds, too */
uint32_t spot_axes(const spot *o);                               /* that conditions depend on */
void spot_free(spot *o);
int64_t spot_at(const spot *o, const standing *t); /* bytes */
bool spot_reads(const spot *o, const standing *t); /* what conditions say; true where data decide */
/* Bytes of which the places of runs along these axes are multiples; step: by axis, what loops around move it by at
 * least, 0: they do not */
int64_t spot_grain(const spot *o, uint32_t axes, const int64_t *step);
#endif
