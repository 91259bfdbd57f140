/* checkpointing.h - what the files of that pass share: checkpointing.c makes copies, checkpointing_cut.c says what
 * stays. Lists lie in the plan's arena. */
#pragma once
#include "schedule/plan/plan.h"

typedef struct retake { /* by node id, of a graph as it is before */
    plan *p;
    int n_need;
    const node **need;
    bool *back;   /* of the backward pass, or after it */
    bool *kept;   /* of the forward pass, read from memory by the backward pass */
    bool *solid;  /* is a stage */
    bool *stays;  /* although a rule would give it up */
    int *rule;    /* that lets it be computed again, or -1 */
    int *from;    /* it depends, by values that are not kept, on one that is given up by this rule; or -1 */
    int *copy;    /* it is computed again for this rule; or -1 */
    bool *direct; /* the backward pass reads the copy */
    int *due;     /* id of the first node that needs the copy */
} retake;
bool retake_forgoes(const retake *r, const node *n);
/* Chooses what stays after all: where little passes from one stretch of copies to the next, so that what stays and the
 * largest stretch are least together. */
void retake_cut(retake *r);
