/* strassen.h - another way to multiply matrices, which the record of matmul names; graph/ops/strassen.c has it.
 * The same type and value up to rounding; sums of small whole numbers stay exact. Nodes are the graph's. */
#ifndef TS_STRASSEN_H
#define TS_STRASSEN_H
#include "graph/ir/graph.h"

/* matmul of f32 in fewer products */
bool strassen_way(const node *product, way_cost *c);
const node *strassen_matmul(graph *g, const node *product);
#endif
