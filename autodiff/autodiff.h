/* autodiff.h - gradients as nodes. The reverse pass (chain.c) asks every node on the way for the gradient of its
 * operands: a written one if the operation has it, else one derived from its definition (derive.c: what one element
 * depends on; adjoint.c: where its parts go), as nodes (graph/passes/spell.c). Nothing here knows an operation by its
 * meaning. Nodes are the graph's that they are made in; expressions live where the definition's do that they come from,
 * or in the arena given.
 *
 * The room:  chain, columns -> derive -> adjoint, places -> spell
 *            who               of what    where to            as nodes
 *            states: what is carried from point to point, as a scan
 *            forward; batch, turned; reach -> jacobian, jacobian_parts; factors, lora
 *            learning_rate, optimizer, table */
#pragma once
#include "graph/passes/spell.h"

/* sum: one element over axes, `n_axis` of them, of which those from `rank` on are folded with fold. */
typedef struct sum {
    int rank, n_axis;
    int64_t extent[MAX_AXIS];
    int source[MAX_AXIS]; /* of a folded axis, where adjoint made it: the axis it was before, or -1 */
    const char *fold;
    const expr *value;
} sum;

/* Where y's elements come from, turned around: `term`, over the axes of y's definition d, is what the element of x at
 * load's subscripts receives; out is what an element of x receives. */
bool adjoint_sum(const defn *d, const expr *load, const expr *term, sum *out, err *e);

bool x_linear(const expr *x, const node *in); /* a sum of terms with one load of `in` each, as a factor */

/* A node that has these elements; NULL and g->err where an operation cannot hold them. */
const node *emit_sum(graph *g, const sum *s);
/* The fold of value over the axes of d, of which the first `rank` are those of the result */
const node *emit_fold(graph *g, const defn *d, int rank, const char *fold, const expr *value);

/* The same of a sum of products of two tensors, as products of matrices; NULL: it is none. */
const node *emit_product(graph *g, const sum *s);

const node *stand_in(graph *g, const type *t, const char *what); /* an input that something takes the place of later */

/* n, made after node `first` of the graph, with axis i being order[i] of what it was */
const node *turned_node(graph *g, const node *n, const int64_t *order, int first);

/* value, over all axes (summed over those that no place depends on), put into `start` at places that are computed. */
typedef struct putting {
    const node *start;
    const char *reduce;
    int n_axis;
    const int64_t *extent;
    const expr *value, *const *sub; /* one for each dimension of start */
} putting;
bool is_computed(int n, const expr *const *sub);                      /* a place among them is read from a tensor */
const node *emit_put(graph *g, arena *mem, const putting *p, err *e); /* NULL: e or g->err says why */

/* The sum of n parts of type t, in order; those that are zeros but at one place along an axis side by side. */
const node *sum_of_parts(graph *g, const type *t, int n, const node *const *part);
bool is_column_part(const node *part); /* such zeros */

/* What reaches a node in the pass that made the nodes from id `first` on. chosen: perhaps by way of a choice, so that
 * some of it is 0 because what it belongs to was not taken. */
typedef struct arriving {
    const node *dy;
    bool chosen;
    int first;
} arriving;
/* Where dy is 0 because of a choice by values: a condition over dy's axes; NULL: nowhere that can be told. */
const expr *guard_of(graph *g, arena *mem, const arriving *at);
/* n, whose shape dy has or repeats, with 0 where guard_of holds. */
const node *guard_apply(graph *g, const arriving *at, const node *n);
bool has_choice(const expr *x); /* a choice by values is among its parts */

/* The gradient that operand `of` (a node that y reads) receives through y, of of's type, from y's definition alone;
 * NULL: none. *chosen is set where y's element chooses. */
const node *derive_gradient(graph *g, const node *y, const arriving *at, const node *of, bool *chosen);

/* The same where the definition carries states from point to point, dy being what reaches its node. */
const node *derive_states(graph *g, const defn *d, const node *dy, const node *of);
