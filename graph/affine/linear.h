/* linear.h - integer expressions as sums of atoms: c0 + c1 * x1 + c2 * x2 + ..., where an atom is an axis or anything
 * that is not linear. What lets subscripts be turned around, bounds be proved, and equal places be seen to be equal.
 * Sums and ranges are plain values whose atoms are borrowed; expressions made of them are of the arena given. */
#pragma once
#include "graph/affine/range.h"
#include "graph/ir/expr.h"

enum { MAX_TERM = 24 };
typedef struct linear {
    int n;
    int64_t by[MAX_TERM];
    const expr *atom[MAX_TERM]; /* all different */
    int64_t plus;
} linear;

bool linear_of(const expr *x, linear *out); /* false: not an integer, too many terms, or overflow */
const expr *linear_expr(arena *mem, const linear *l);
/* out = a + by * b; false on overflow or too many terms */
bool linear_add(const linear *a, int64_t by, const linear *b, linear *out);

/* Over axes of the given extents, each at least 1. Not known: something is loaded or overflows. */
range x_range(const expr *x, const int64_t *extent);

/* The same expression with integers as sums in one order, comparisons and remainders of what the extents decide
 * settled, and selections among them taken. */
const expr *x_tidy(arena *mem, const expr *x, const int64_t *extent);
/* The same, but comparisons of axes are not settled: at other extents they may say otherwise. */
const expr *x_tidy_open(arena *mem, const expr *x, const int64_t *extent);
bool x_settled(const expr *x, bool *holds); /* a condition that is a constant, as x_tidy leaves it */
