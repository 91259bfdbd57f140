/* equation.h - an equation of einsum as it was read: subscripts.c says what stands in one, and makes nodes of it. The
 * first mistake stays in the graph, with its place in the equation. */
#pragma once
#include "graph/ir/graph.h"

enum { MOST_AXES = 48, NAME = 32, PARTS = 4, MOST_TERMS = 64, MOST_ROWS = 4, NONE = -1 };
typedef struct subscript { /* offset + the sum of scale[i] * axis[i]; or axes end to end */
    bool joined, padded;
    int n;
    int axis[PARTS];
    int64_t scale[PARTS], offset;
} subscript;
typedef struct term {
    int n;
    subscript at[MAX_RANK];
} term;
typedef struct equation {
    graph *g;
    const char *words, *fold, *times;
    double unit; /* what a fold of nothing gives */
    bool named;
    int n_axis, n, n_row;
    char row[MOST_ROWS][NAME]; /* the v of "..v..", "" of "..." */
    int row_n[MOST_ROWS];      /* axes that it stands for, most of all terms; NONE: not met yet */
    char name[MOST_AXES][NAME];
    int64_t extent[MOST_AXES]; /* NONE: not known yet */
    const node *in[MOST_TERMS];
    term term[MOST_TERMS + 1]; /* of the operands, then of the result */
} equation;

/* g, words, named and n are set: terms of n's operands and of the result, and as many extents as follow. */
bool equation_read(equation *q, const node *n);
bool equation_known(equation *q); /* whether all extents are; what is padded begins where it should by then */
/* As long as it must be for s to stay inside; OPEN_EXTENT where that is not known */
int64_t equation_span(const equation *q, const subscript *s);
bool subscript_is_axis(const subscript *s);
bool subscript_is_place(const subscript *s);
bool equation_refuse(const equation *q, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
