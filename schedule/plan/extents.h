/* extents.h - extents that are known when a program runs. A plan is made at the largest extents; which of its extents
 * follow a variable is found by comparing the graph with the same model's at other extents (passes/extents.c).
 * What varies is a plain value; expressions are the plan's, or of the arena given. */
#pragma once
#include "schedule/plan/plan.h"

enum { TRIPS = MAX_AXIS };                      /* stands, of a scan, for an axis: how many trips it makes */
bool extents_any(const plan *p, const node *n); /* of its axes, those of a fold included */
/* Of axis `axis` of the definition of n, or of that dimension of a leaf; by is 0 where it is constant. */
varying extents_of(const plan *p, const node *n, int axis);
/* The element of n, of which x is the definition: with extents that vary (X_SIZE) where numbers in it follow them. */
const expr *extents_element(const plan *p, const node *n, const expr *x);
int64_t extents_at(const varying *v, const int64_t *size); /* what it is where variable i is size[i] */
varying extents_scaled(const varying *v, int64_t by);      /* so many times as much; of one that is not divided */
varying extents_steps(const varying *v, int64_t step);     /* in how many steps it is walked */
const expr *extents_expr(arena *mem, const varying *v);
void extents_print(text *t, const plan *p, const varying *v); /* "2 seq + 1" */
bool extents_same(const varying *a, const varying *b);
/* Extents at which a choice for all of them is weighed: of an axis of s, powers of two, which are asked for more often
 * than others, and as many from the least to the largest, evenly; the largest is last. One, where it is constant. */
typedef struct extents {
    int n;
    int64_t of[16];
} extents;
extents extents_sampled(const plan *p, const stage *s, int axis);
int64_t extents_small(const plan *p, const stage *s, int axis); /* seven of eight extents are larger */
double extents_share(const plan *p,
                     const node *n);    /* of a value's elements: how many of them a run of middling extents has */
uint32_t stage_varying(const stage *s); /* its axes */
/* Of those, the ones that are summed up: they end where the extent does, others may run into the bound's rows. */
uint32_t stage_exact(const stage *s);
