/* strassen.h - another way to multiply matrices, which the record of matmul names; graph/ops/strassen.c has it.
 * The same type and value up to rounding; sums of small whole numbers stay exact. Nodes are the graph's. */
#pragma once
#include "graph/ir/graph.h"

/* matmul of f32 [..., m, k] and [k, n] in fewer products. False: it is none; *c is what it takes. */
bool strassen_way(const node *product, way_cost *c);
const node *strassen_matmul(graph *g, const node *product); /* of one that strassen_way takes; NULL: g has the error */
