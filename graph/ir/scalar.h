/* scalar.h - scalar functions of one graph (ts_function): rows like those of the table (fn.c), made of text. A call of
 * one stays a call in texts and for derivatives, by its name: "polar" its first result, "polar.1" the next, "polar.d0"
 * the derivative by the first parameter, "polar.1.d0.d1" and so on. Before anything is computed it is expanded: what
 * runs, is fused and is printed as code knows functions of the table only. They die with the graph. */
#pragma once
#include "graph/ir/expr.h"

enum { SCALAR_DEPTH = 200, SCALAR_PARTS = 200000, SCALAR_ORDER = 4, SCALAR_RESULT = 8, SCALAR_CALLS = 100000 };
typedef struct scalar {
    const char *name, *text;
    const char *derivative; /* result by result, parameter by parameter; NULL: derived */
    int n_parameter, n_result;
    const char *parameter[MAX_ARG];
    scalars *in;
} scalar;
typedef struct own_fn { /* a result of one, or a derivative of that */
    fn base;            /* first, so that one is the other */
    const scalar *of;
    int result, order, by[SCALAR_ORDER]; /* parameters, the first derivative first */
} own_fn;
struct scalars {
    arena *mem;
    int n, cap, n_fn, cap_fn;
    int calls; /* since the last text was begun: recursions end */
    scalar **all;
    own_fn **fn;
};
bool fn_is_own(const fn *f);
const scalar *scalar_find(const scalars *s, const char *name, size_t n);
/* "polar.1.d0"; NULL: there is none. s may be NULL. */
const fn *scalar_fn(const scalars *s, const char *name);
const fn *scalar_derivative(const fn *f, int by); /* NULL: of higher order than SCALAR_ORDER */
/* Calls of own functions as what they mean. s NULL: x has none. NULL: a recursion that does not end, or what is too
 * long. */
const expr *x_expand(arena *mem, scalars *s, const expr *x, err *e);
bool scalar_is_long(arena *mem, scalars *s, const expr *x, int most); /* expanded, it has more parts than that */
/* What a call of f is, of f's dtype; the calls in it stay unless `expand`. depth: calls around it. */
const expr *scalar_value(arena *mem, const own_fn *f, const expr *const *arg, bool expand, int depth, err *e);

/* A text as x_parse takes it, of several results: the one asked for. */
typedef struct reading {
    const names *known;
    bool expand;  /* calls of own functions */
    int depth;    /* calls around this one */
    int result;   /* which one */
    int n_result; /* filled in: how many there are; as asked where it is not 0 */
} reading;
const expr *x_read(arena *mem, const char *source, reading *r, err *e);
