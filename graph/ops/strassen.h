/* strassen.h - another way to multiply matrices, which the record of matmul names; graph/ops/strassen.c has it. */
#ifndef TS_STRASSEN_H
#define TS_STRASSEN_H
#include "graph/ir/graph.h"

/* matmul by a matrix that is known, in fewer products; NULL: it is none, or would not gain. */
const node *strassen_matmul(graph *g, const node *product, const prices *at);
#endif
