/* spell.h - nodes that have the elements which expressions say: what passes and derivatives make. Nodes belong to the
 * graph; expressions are borrowed for the call. NULL with g->err where no operation can hold them. */
#pragma once
#include "graph/ir/rule.h"

/* value over the axes of s, whose text plays no part */
const node *emit_spelled(graph *g, const spelling *s, const expr *value);
/* Pointwise over shape (axes 0..rank-1, every load as numpy broadcasts): one named operation where there is one. */
const node *emit_pointwise(graph *g, const type *shape, const expr *value);
bool is_pointwise(const type *shape, const expr *value);
const node *emit_over(graph *g, const type *shape, const expr *value); /* one or the other; nothing is folded */
