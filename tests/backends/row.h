/* row.h - small graphs as one line of text, so that a failing one can be pasted into a table:
 *
 *   "a f32[33,70]; w! f32[70,35]; p matmul a w; y relu p"
 *
 * A statement names a tensor: an input, a constant (name!), or a call with its attributes and operands (names, or
 * numbers of f32); the last one is the result, and those marked name* are results beside it. Values are whole and
 * small: -2...2, of unsigned ones 0...4, of "i i64[7]<5" 0...4 as well. */
#ifndef TS_ROW_H
#define TS_ROW_H
#include "tessera.h"

enum { MAX_ROW_INPUTS = 512 };
typedef struct row_inputs { /* of all rows of one graph */
    int n;
    ts_given given[MAX_ROW_INPUTS];
    char name[MAX_ROW_INPUTS][32];
    int n_also; /* results that are marked */
    ts_tensor also[MAX_ROW_INPUTS];
} row_inputs;

/* Appends the row to g; number keeps the inputs of rows apart and seeds their values. NULL, having said why, when the
 * row is wrong. */
ts_tensor row_build(ts_graph *g, const char *row, int number, row_inputs *in);
void row_inputs_free(row_inputs *in);
/* The first element that differs, or -1: in any bit if tolerance is 0, else by more than tolerance * (1 + |want|). The
 * sign of zero is left aside: max(0, -0) may be either, and compilers take -(a * b + c) for -a * b - c. */
int64_t row_differs(const ts_array *want, const ts_array *got, double tolerance);
#endif
