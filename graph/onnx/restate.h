/* restate.h - the way back: a node as calls of operators of ONNX, as its operation's record declares it in op.back,
 * or as a rule without an adapter implies. All memory is of the arena given; the graph is only read. The language of
 * op.back: calls divided by ';', each an operator and words:
 *   a b ...       an operand; a^ in the result's dtype
 *   *             all operands, *^ likewise; $ the result of the call before
 *   @x @x+y*z     an attribute as integers, or sums and products of them     #   the extents of the result, as integers
 *   %x            the axes that an attribute lists, or all of operand a
 *   !x            an attribute as a scalar of the result's dtype             ?   the truth value true      -   left out
 *   name=x        an attribute of the operator from one of the operation, where it is there
 *   name:1        an attribute of the operator that is this integer         name'word   this word
 *   name~         an attribute of the operator that is the result's dtype
 * A scan is one call with a body: Loop where it may end early and gathers nothing, else Scan (restate_scan.c). */
#pragma once
#include "graph/ir/graph.h"
#include "graph/onnx/steps.h"

enum { BACK_OPSET = 20, BACK_OPERANDS = 64 }; /* the operator set that is written; operands of a call */

/* All memory is the arena's. A node's value is called name[id], which the caller sets for leaves. */
typedef struct back {
    arena *mem;
    int cap_step, cap_held, next; /* next: number of the next name that is made */
    body made;                    /* the steps so far, and the constants that they read */
    const char **name;
    const struct back_outputs *outputs; /* of scans so far */
} back;

/* Appends the calls that make n's value, and sets its name. TS_UNSUPPORTED, naming the operation, if there are none. */
bool back_node(back *b, const node *n, err *e);
