/* chart.h - what the charts of a report share: scales, frames with a text alternative, and the marks of
 * contestants. A mark is a colour and a shape of equal area, so that nothing depends on seeing colours. Colours are
 * CSS classes (k0 ... k5, kp for peers) and follow light, dark and print. Coordinates are clamped: no value of the
 * results can break a chart. Everything is added to the caller's text; axes and ticks are plain values. */
#pragma once
#include "bench/report/data.h"
#include "bench/report/html.h"
#include "bench/report/word.h"

typedef struct axis {
    double lo, hi;   /* values; lo < hi, and 0 < lo when log */
    double from, to; /* where they are drawn */
    bool log;
} axis;
double axis_at(const axis *a, double v);
/* Round numbers (1, 2, 5 times a power of ten) within the axis, at most max: how many. */
int axis_ticks(const axis *a, double *out, int max);

/* Ticks of a scale of times, named in the unit of its end: 20 ms. */
typedef struct tick {
    double at; /* where it is drawn */
    word name;
} tick;
int axis_time_ticks(const axis *a, tick *out, int max);

/* A line of the grid with its name below it, and to the left of it. */
void grid_x(text *t, double x, double top, double bottom, const char *name);
void grid_y(text *t, double y, double left, double right, const char *name);
void grid_times(text *t, const axis *x, double top, double bottom); /* all lines of a scale of times */
const char *mark_class(const report *r, int c);                     /* "k0" */
const char *curve_class(int i);                                     /* of curve i, from 0 */
void mark_path(text *t, int c, double x, double y, double radius);  /* path data of the shape around x, y */
const char *mark_make(report *r, int c);         /* HTML: the mark and the escaped name; the report's */
const char *kind_make(report *r, const kind *k); /* HTML: layer.*.query × 12, and its op */
void mark_add(text *t, const char *class, int shape, const char *name); /* the same; shape -1: the name alone */
