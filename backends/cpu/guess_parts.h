/* guess_parts.h - shared by the files that guess loops for a processor. All of them read a plan and put loops, which
 * are checked like those that a person wrote, so none need prove that they fit. They keep nothing of the plan, and the
 * nest is the caller's. */
#pragma once
#include "backends/cpu/guess.h"
#include "schedule/nest/sums.h"
#include "schedule/plan/extents.h"

typedef struct shape { /* of a register tile */
    int64_t rows, vectors;
} shape;
/* second: what scores next to it, with both scores, or NULL */
shape guess_tile(const plan *p, const stage *s, int64_t rows, int64_t columns, int64_t lane, text *second);
/* What one instruction takes of the fold, where it does: of weights, which are laid out for it; else 1 */
int64_t guess_dot(const plan *p, const kernel *k, const stage *s, int column);
bool guess_cores(const plan *p, const kernel *k, const stage *s); /* enough work to spread */
/* The share of the cores' time that has work. Above EVEN nothing is cut for it: the chunks that threads take of each
 * other's trips make up for more than a twentieth (docs/notes/kernels.md: 5 to 8 % of BERT-base). */
double guess_evenly(int64_t trips, int threads);
#define EVEN 0.95
/* guess_blocks.c: true when the stage is one whose values lie in blocks, or whose weights give another axis than the
 * last; its loops are then put. */
bool guess_blocks(const plan *p, const kernel *k, const stage *s, nesting *out, text *second);
/* guess_window.c: the same for a contraction, one operand of which is read through a window, without weights that are
 * laid out beforehand. */
bool guess_window(const plan *p, const kernel *k, const stage *s, nesting *out);
/* guess_states.c: the loop whose trips fold several values in parts, where that pays; false: it is whole. */
bool guess_states(const plan *p, const kernel *k, const stage *s, nesting *out);
/* Folded axis a walks places of a window that is read where it lies. These come first, alone in a kernel or among other
 * stages: so sums have one order, and what is computed again has the bits that it had. */
bool guess_place(const stage *s, int a);
/* guess_choice.c: the same for a stage that chooses by the number of a loop what it computes. */
bool guess_choice(const plan *p, const kernel *k, const stage *s, nesting *out);
/* guess_turn.c: the same for a stage without sums that reads along another axis than it stores. */
bool guess_turn(const plan *p, const kernel *k, const stage *s, nesting *out);
/* How far apart in memory neighbours along an axis are, in elements; 0 when it does not move, -1 when that is
 * not one number. */
int64_t guess_stride(const plan *p, const stage *s, int load, int axis);
