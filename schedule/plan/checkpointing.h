/* checkpointing.h - memory against time: values of the forward pass that a rule says "recompute" of are not kept for
 * the backward pass but computed again there, from what is kept, right before they are needed. The arithmetic is the
 * same in the same order, hence so are the bits.
 *
 * What is computed again are nodes of their own: copies, over operands that passed through the operation
 * "rematerialize", in which the nodes of the backward pass (ts_node.back, and what depends on them) read them. Copies
 * are the graph's, lists lie in the plan's arena. */
#pragma once
#include "schedule/plan/plan.h"

typedef struct forgone { /* a value that the backward pass read and that is not kept for it any more */
    int rule;
    const node *value, *copy;
} forgone;
typedef struct repeat { /* of a node */
    int due;            /* twice the id of the node before which it is due, in the order of the graph */
    int rule;           /* of a copy: for which it was made; else -1 */
    bool solid;         /* is not put under a fold: it was read from memory there when all was kept */
    const layout *like; /* how it, or what it is a copy of, lay then; NULL: nowhere */
} repeat;
typedef struct checkpointing {
    bool backward;    /* the plan has a backward pass */
    int *fits;        /* by rule: nodes of the forward pass that it names */
    int64_t *without; /* by rule: bytes alive at once in the plan that keeps what the rule gives up; NULL: the same */
    int n_value;
    forgone *value;
    int n; /* by node id */
    repeat *node;
} checkpointing;

/* Without rules that say so all of these are as if nothing were computed again. */
int checkpointing_due(const plan *p, const node *n);
bool checkpointing_solid(const plan *p, const node *n);
const layout *checkpointing_like(const plan *p, const node *n);
/* May n be computed in the loops of the kernel that first belongs to? Copies keep among those that are due with
 * them, so that none is computed early. */
bool checkpointing_joins(const plan *p, const node *n, const node *first);
int checkpointing_rule(const plan *p, const node *n); /* of a copy; else -1 */
