/* fit.h - how loops fit the machine: what one trip of a loop works on, how often a cache is filled anew, what
 * ragged edges cost. Derived from subscripts, extents and sizes alone; nothing is
 * measured or kept: loops that are pointed to are the plan's, places live in the space given.
 *
 * depth counts loops entered, the shared ones of the kernel first, then the stage's own: 0 is the whole kernel. */
#pragma once
#include "graph/affine/index.h"
#include "schedule/plan/plan.h"

int fit_depth(const kernel *k, const stage *s);                   /* of all loops entered */
const loop *fit_loop(const kernel *k, const stage *s, int depth); /* the loop that depth entered last; depth > 0 */
/* Bytes of distinct elements that one trip reads or writes. s NULL: of all stages; depth then counts shared
 * loops only. */
double fit_bytes(const plan *p, const kernel *k, const stage *s, int depth);
/* The same, of all cores at once: parts that the spread loop walks count once for each. */
double fit_bytes_shared(const plan *p, const kernel *k, const stage *s, int depth);
/* The level of the target that holds that, and which share of it is taken (of memory: of the last cache). */
int fit_level(const plan *p, const kernel *k, const stage *s, int depth, double *share);
/* Bytes that have to come from outside a cache, estimated: what is walked again after more than the cache holds went by
 * comes again. */
double fit_traffic(const plan *p, const kernel *k, int level);
double fit_waste(const plan *p, const kernel *k,
                 const stage *s); /* work of full tiles and vectors over real work, less 1 */
/* Where elements of a load or of the result (MAX_LOADS) lie in memory, in elements: the stage's axes are variables. */
const affine *fit_place(space *sp, const plan *p, const stage *s, int load);
/* How far apart neighbours along an axis lie in memory, in bytes, of a load or of the result (MAX_LOADS); 0 when it
 * does not move or not by one number. */
int64_t fit_stride(const plan *p, const stage *s, int load, int axis);
