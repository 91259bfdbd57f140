/* cstyle.h - expressions as those of a C-like language: what a stage computes, one element at a time. The generator
 * says what loads, axes and folds are where it stands; the dialect has the rest. A writer is a value of whoever writes:
 * what it points to is borrowed, and what is written lives in its arena. */
#pragma once
#include "backends/codegen/stmt.h"

/* A part of a value: how it is computed, a shape (vectors.h), and how often, always. What is used twice gets a name. */
typedef struct value_part {
    const expr *x;
    int how, uses;
    bool held; /* in registers: it needs no name */
    const cexpr *name;
} value_part;

typedef struct writer {
    const dialect *d;
    arena *mem;
    callees *uses; /* what is called is noted there */
    bool wide;     /* reals compute in f64 whatever their dtype */
    bool sums;     /* what is written is summed up */
    bool alike;    /* functions are those that processors have, wherever the library has their text */
    const cexpr *(*load)(void *user, const expr *x);
    const cexpr *(*axis)(void *user, int axis);
    const cexpr *(*size)(void *user, int which); /* NULL: none is met */
    const cexpr *(*fold)(void *user, const expr *x);
    const char *states;      /* before the number of a state: "s" for s0, s1, ... */
    const index_list *state; /* of each of them */
    void *user;
    int n_temporary;  /* numbers of temporaries, t0, t1, ... */
    code *out;        /* where what is named gets its name */
    value_part *part; /* of the value that is written, in mem; n_part 0: nothing is named */
    int n_part, cap_part;
    const struct writer *up; /* of what this is a branch of: its names are there; NULL: of nothing */
} writer;

const cexpr *cstyle_literal(arena *mem, const dialect *d, const expr *x, bool wide);
/* x, an element: statements name those of its parts that are used more than once. */
const cexpr *cstyle_expr(writer *w, const expr *x);
const cexpr *cstyle_state(const writer *w, int i);
value_part *cstyle_part(const writer *w, const expr *x);    /* NULL: it is none of them */
const char *cstyle_spelled(const writer *w, const expr *x); /* the form of call x */
const cexpr *cstyle_combine(const writer *w, const fn *f, dtype d, const cexpr *a, const cexpr *b); /* f of them */
/* The form of a call that turns an element of memory into a value, and back: "half_to_float($0)"; "$0" where it is one.
 * It lives in mem. uses NULL: it is asked only. */
const char *cstyle_load(arena *mem, const dialect *d, callees *uses, dtype t);
const char *cstyle_store(arena *mem, const dialect *d, callees *uses, dtype t);
