/* reach.h - which places of an input the elements of a node depend on, along one axis of the input: a band where places
 * move along with an axis of the node, else a window that is the same for all elements. Found from subscripts alone, as
 * affine forms of the axes; what these do not say is taken to be read, so a reach is never too small. Nothing is kept:
 * a list is the caller's to free, nodes are only read. */
#pragma once
#include "graph/ir/graph.h"

typedef struct reach {
    bool any;              /* false: on no place */
    int along;             /* the node's axis; -1: a window */
    int64_t by, low, high; /* element i along it: on places by * i + low ... by * i + high, inclusive; by is 0 of -1 */
} reach;

/* By id, of all nodes on the way from `in` to `out`: along `axis` of in, where places from `first` on alone count,
 * `size` of them. The caller frees it. */
reach *reach_make(const node *out, const node *in, int axis, int64_t first, int64_t size);
int64_t reach_width(const reach *r); /* places of one element */
