/* recognise.h - finding what was not written as a recipe but is one: the products and the softmax between them that an
 * exporter made of attention. What is found becomes a group like those of recipes, so that a rule for the operation
 * fits, however a model spells it. Each recogniser is one file in graph/ops/recognise/; the build writes the table.
 * Records are constant; groups and nodes are of the graph, which alone is changed. */
#pragma once
#include "graph/ir/graph.h"

typedef struct seeker { /* who asks */
    graph *g;
    struct groups *groups; /* those of g by their results */
} seeker;
typedef struct recogniser {
    const char *op; /* whose group */
    /* Is y the result of one? Then operands, attributes and the first node are put into out. Operands and attributes
     * are those of a call that computes y, so far as the operation has them. */
    bool (*find)(const seeker *s, const node *y, group *out);
} recogniser;
extern const recogniser *const recognisers[]; /* ends with NULL */

void g_recognise(graph *g); /* over all nodes; what has a group of that operation is left alone */

/* For recognisers: the nearest among n and what it is computed from by definitions of one element of each operand (no
 * folds) without a change in the number of elements, for which `is` holds; NULL: none that is near. */
const node *seen_through(const seeker *s, const node *n, bool (*is)(const seeker *s, const node *n));
const group *group_at(const seeker *s, const node *result, const char *name); /* NULL: none */
bool node_is_known(const node *n); /* computed from weights and constants alone, as far as one operand leads */
