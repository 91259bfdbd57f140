/* subscripts.h - equations of einsum in full: numbers for fixed places, sums of axes, axes end to end, any fold. The
 * first mistake stays in the graph, with its place in the equation. Texts are read during the call; nodes are the
 * graph's. */
#pragma once
#include "graph/ir/graph.h"

const char *past_blanks(const char *s);
bool subscripts_needed(const char *words); /* more than letters, blanks and "...", or a letter twice in the result */
/* named: axes have names with points between them, else each is a letter. n's attributes fold and times count. */
const node *g_subscripts(graph *g, const node *n, const char *equation, bool named);
/* How long its operands' axes are that are left open, as op.extents says it. */
bool g_subscripts_extents(graph *g, const node *n, const char *equation, bool named, int64_t (*dim)[MAX_RANK]);
