/* index.h - affine indices: what subscripts and addresses become. One is a sum of coefficients times atoms plus a
 * constant; an atom is a variable, the floor of an index over a number, or an expression that is not linear (a gathered
 * place). x % n is written x - n * floor(x / n), so that blocked and split subscripts cancel by themselves: with
 * row-major strides, (x / 64) * 64 + x % 64 is x. Indices are immutable and live in the arena of their space, which
 * knows every variable's range. */
#ifndef TS_INDEX_H
#define TS_INDEX_H
#include "graph/ir/graph.h"

enum { MAX_VAR = 256 };
typedef struct lin lin;
typedef struct var {
    char name[16];
    int64_t low, high; /* inclusive */
} var;
typedef struct space {
    arena *mem;
    int n;
    var var[MAX_VAR];
    const lin *size[MAX_SIZE]; /* of extents that a run says; NULL: they are no part of what is linear */
} space;
typedef struct atom {
    enum { A_VAR, A_DIV, A_EXPR } kind;
    int var;
    const lin *of; /* A_DIV: floor(of / by) */
    int64_t by;
    const expr *x; /* A_EXPR: over the axes that axis[] mapped when it was made */
} atom;
typedef struct term {
    int64_t coef;
    const atom *a;
} term;
struct lin {
    int64_t c;
    int n;
    const term *t;
};

int var_add(space *s, const char *name, int64_t low, int64_t high);
const lin *lin_const(space *s, int64_t c);
const lin *lin_var(space *s, int v); /* a constant where the variable's range is one number */
const lin *lin_add(space *s, const lin *a, const lin *b, int64_t times); /* a + times * b */
const lin *lin_scale(space *s, const lin *a, int64_t times);
const lin *lin_div(space *s, const lin *a, int64_t by); /* floor; by > 0 */
const lin *lin_mod(space *s, const lin *a, int64_t by);
/* An integer expression; axis[i] is the form of axis i. What is not linear becomes an A_EXPR atom. */
const lin *lin_of(space *s, const expr *x, const lin *const *axis);
bool lin_same(const lin *a, const lin *b);
void lin_range(const space *s, const lin *a, int64_t *low, int64_t *high); /* INT64_MIN, MAX when unknown */
void lin_bounds(space *s, const lin *a, int64_t *low, int64_t *high); /* the same; a remainder is below its divisor */
/* Any variable or expression passing test */
bool lin_uses(const lin *a, bool (*test)(void *user, const atom *leaf), void *user);
/* Along a variable, or an axis of expressions, that passes test: so many neighbours, from each multiple of that on, are
 * apart by its coefficient alone, for no floor changes among them; 0: all are */
int64_t lin_run(const lin *a, bool (*test)(void *user, const atom *leaf), void *user);
bool lin_has_axis(const lin *a);       /* any variable at all */
bool lin_has_expr(const lin *a);       /* any part that is not linear */
int64_t lin_coef(const lin *a, int v); /* of variable v; 0 when it does not occur outside divisions */
bool lin_pure(const lin *a);           /* variables only: linear */
bool lin_is_word(const lin *a);        /* its text is a variable's name, or a number that has no sign */
/* C text: expressions through the callback, variables by name. */
void lin_print(const space *s, text *t, const lin *a, void (*expr_text)(void *user, text *t, const expr *x),
               void *user);
#endif
