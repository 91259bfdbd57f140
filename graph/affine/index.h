/* index.h - affine indices: what subscripts and addresses become. One is a sum of coefficients times atoms plus a
 * constant; an atom is a variable, the floor of an index over a number, or an expression that is not linear (a gathered
 * place). x % n is written x - n * floor(x / n), so that blocked and split subscripts cancel by themselves: with
 * row-major strides, (x / 64) * 64 + x % 64 is x. Indices are immutable and live in the arena of their space, which
 * knows every variable's range. */
#pragma once
#include "graph/ir/graph.h"

enum { MAX_VAR = 256 };
typedef struct affine affine;
typedef struct var {
    char name[16];
    int64_t low, high; /* inclusive */
} var;
typedef struct space {
    arena *mem;
    int n;
    var var[MAX_VAR];
    const affine *size[MAX_SIZE]; /* of extents that a run says; NULL: they are no part of what is linear */
} space;
typedef struct atom {
    enum { A_VAR, A_DIV, A_EXPR } kind;
    int var;
    const affine *of; /* A_DIV: floor(of / by) */
    int64_t by;
    const expr *x; /* A_EXPR: over the axes that axis[] mapped when it was made */
} atom;
typedef struct term {
    int64_t coef;
    const atom *a;
} term;
struct affine {
    int64_t c;
    int n;
    const term *t;
};

int var_add(space *s, const char *name, int64_t low, int64_t high);
const affine *affine_const(space *s, int64_t c);
const affine *affine_var(space *s, int v); /* a constant where the variable's range is one number */
const affine *affine_add(space *s, const affine *a, const affine *b, int64_t times); /* a + times * b */
const affine *affine_scale(space *s, const affine *a, int64_t times);
const affine *affine_div(space *s, const affine *a, int64_t by); /* floor; by > 0 */
const affine *affine_mod(space *s, const affine *a, int64_t by);
/* An integer expression; axis[i] is the form of axis i. What is not linear becomes an A_EXPR atom. */
const affine *affine_of(space *s, const expr *x, const affine *const *axis);
bool affine_same(const affine *a, const affine *b);
void affine_range(const space *s, const affine *a, int64_t *low, int64_t *high); /* INT64_MIN, MAX when unknown */
void affine_bounds(space *s, const affine *a, int64_t *low,
                   int64_t *high); /* the same; a remainder is below its divisor */
/* Any variable or expression passing test */
bool affine_uses(const affine *a, bool (*test)(void *user, const atom *leaf), void *user);
/* Along a variable, or an axis of expressions, that passes test: so many neighbours, from each multiple of that on, are
 * apart by its coefficient alone, for no floor changes among them; 0: all are */
int64_t affine_run(const affine *a, bool (*test)(void *user, const atom *leaf), void *user);
bool affine_has_axis(const affine *a);       /* any variable at all */
bool affine_has_expr(const affine *a);       /* any part that is not linear */
int64_t affine_coef(const affine *a, int v); /* of variable v; 0 when it does not occur outside divisions */
bool affine_pure(const affine *a);           /* variables only: linear */
