/* interval.h - between which numbers the elements of an expression lie, over a box of its axes, as far as constants and
 * the axes themselves say. What nothing is known of, as the elements of an input, may be any number of its dtype; reals
 * are taken to be numbers of less than 2^100, so that a mask of -3.4e38 that is added to them says something, and what
 * they divide is taken to be a number: 0 / x is 0. A span is a plain value; a memo is its asker's, and what it keeps
 * lies in its arena. */
#pragma once
#include "graph/ir/graph.h"

typedef struct span { /* inclusive; of whole numbers and truth values too */
    double low, high;
} span;

typedef struct span_memo { /* definitions that were looked into; starts as {.mem = ...} */
    arena *mem;
    /* What computes an element of n, of which x is the definition; NULL: x does */
    const expr *(*element)(const void *of, const node *n, const expr *x);
    const void *of;
    int64_t steps; /* parts of expressions that were looked at; there is an end to it */
    int n;
    struct {
        const node *of;
        defn d;
    } seen[32];
} span_memo;

typedef struct span_box {
    span_memo *memo;
    const span *axis; /* by axis of the expression */
    /* What the caller knows of a load, or false; may be NULL */
    bool (*known)(void *user, const expr *load, span *out);
    void *user;
} span_box;

span span_of(const span_box *box, const expr *x); /* all numbers where too much would have to be looked at */
bool span_is(span s, double v);                   /* this number and no other */
