/* taps.h - where an element of a resized axis reads, and with what weights: tables that follow from extents alone.
 * Tables are of the arena given. */
#pragma once
#include "graph/ir/rule.h"

typedef struct way { /* how coordinates and weights come about: the attributes of `resize` */
    const char *mode, *coordinates, *nearest;
    double cubic;
    bool exclude, antialias;
} way;
typedef struct line { /* one axis */
    int64_t in, out;
    double up, down;          /* the scale is up / down: the extents themselves where it is their ratio */
    double scale, start, end; /* start, end: the region of interest, in parts of the axis */
} line;
typedef struct taps { /* what each of `out` places reads */
    int n;
    int64_t *place; /* [out, n], clamped to the axis */
    double *weight; /* [out, n] */
    bool *beyond;   /* [out]: the coordinate lies outside of the axis and extrapolates */
} taps;

bool taps_check(const char *coordinates, err *e); /* whether there are such; else an error that lists them */
bool taps_fill(arena *mem, const way *w, const line *l, taps *t, err *e);
