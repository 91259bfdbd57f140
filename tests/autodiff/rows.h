/* rows.h - small computations for tests of gradients: operands from lines like those of op.cases, and values by the
 * interpreter, node by node. */
#ifndef TS_TEST_ROWS_H
#define TS_TEST_ROWS_H
#include "graph/ir/graph.h"

enum { ROW_OPERANDS = 16 };
typedef struct row { /* reals are f64 whatever the line says */
    graph *g;
    int n;
    const node *in[ROW_OPERANDS];
    double fixed[ROW_OPERANDS]; /* of operands marked =v; NaN otherwise */
    int64_t below[ROW_OPERANDS];
    bool positive[ROW_OPERANDS];
    const node *y; /* NULL: not made */
} row;
/* "f32[2,3] i64[4]<5 axis=1" as operands of the op of that name. */
row row_make(graph *g, const char *name, const char *line);

/* Values of leaves, by id of node; reals lie in [low, high). */
typedef struct values {
    int n;
    ts_array *of;
} values;
values values_make(const row *r, double low, double high, uint64_t seed);
bool values_add(values *v, const node *n, uint64_t seed); /* in [-1, 1), for one made later */
void values_free(values *v);
/* Value of a node; the caller frees it. False: some place was out of range, or the like. */
bool values_of(const values *v, const node *n, ts_array *out, err *e);
#endif
