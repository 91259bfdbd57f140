/* layouts.h - where weights, inputs, results and the values between kernels lie by a schema's rules. What is made is
 * the plan's and lies in its arena. */
#pragma once
#include "schedule/schema/schema.h"

/* Inputs, results and values between kernels: before loops are chosen, which follow what they walk. A value that is
 * given or taken in rows, or that has to lie in two ways, gets a kernel that brings it from one to the other. */
bool layouts_follow(plan *p, err *e);
/* By dimension of a load's value (MAX_LOADS: of the result's) the axis that walks it, two of them one that was merged;
 * -1: none does, or not it alone. False: there is such a dimension of more than one element. */
bool layouts_walked(const stage *s, int load, int *axis);
/* What a rule says of a stage's operand; own: the stage that operands without one are of. NULL: nothing */
const char *layouts_said(const rule *r, const kernel *k, const stage *s, int load, int own);
bool layouts_read(const kernel *k, const stage *s, int load, const char *said, layout *y, err *e);
/* Notes those of a rule that cannot be followed. */
void layouts_note(plan *p, kernel *k, const rule *r, int own);
/* loops.c: layouts of what a stage reads of weights, as its loops walk them or rules say: that which decides the
 * kernel, then those that decide its stages. */
bool loops_lay_out(plan *p, kernel *k, int which, const rule *const *used, err *e);
