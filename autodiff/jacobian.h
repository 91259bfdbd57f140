/* jacobian.h - what the ways to a Jacobian share. A task asks for the derivatives of out by a box of in's places. Axes
 * in pairs are no axes of the result's second half. Seeds are places of one side, numbered; where each element of the
 * other side reaches a band only, places that no element has two of share a seed: they have a color together. Nodes are
 * the graph's; a task and a coloring are plain values, and pair is of whoever asked for the Jacobian. */
#pragma once
#include "autodiff/reach.h"

typedef struct task {
    graph *g;
    const node *out, *in;
    int n_pair, (*pair)[2];
    uint32_t out_set, in_set;               /* axes in pairs */
    int first;                              /* nodes that were there before */
    int64_t from[MAX_RANK], size[MAX_RANK]; /* places of in that are asked for */
    reach band[MAX_RANK];                   /* of out, along each axis of in */
} task;

/* [seeds, axes of t...]: for each seed 1 at its places. Place p of an axis has the color (p - from) % colors; 0 colors:
 * the axis is in a pair, and every seed is at all of its places. */
typedef struct coloring {
    int64_t color[MAX_RANK], from[MAX_RANK], size[MAX_RANK];
} coloring;
coloring colors_of_in(const task *j);
const node *coloring_units(graph *g, const type *t, const coloring *c);

/* How nodes move with in, of which `seed` stands for the motion, through what reads a place that is asked for alone:
 * at the others it is 0. What has no reach in `of` does not depend on those; NULL: all may. */
bool push_part(const task *j, const reach *of, const node *seed, int n, const node *const *out, const node **tangent);

/* The Jacobian, [axes of out..., axes of in in no pair...], by tangents of these seeds; of: reaches by id, or NULL. */
const node *by_tangents(const task *j, const coloring *c, const reach *of);
/* The same by parts of in that are read apart, where that takes fewer seeds or less of the graph for them; NULL with
 * no error: there is no such part. */
const node *by_parts(const task *j);
