/* kept.h - how what a stage hands on to later ones lies in scratch, for one trip of the loops that stages share: steps
 * of shared axes, and in each of them a row of what no shared axis walks. Where a matrix unit takes it from there, rows
 * and columns are whole trips of the unit, and rows have a gap behind them, so that no bank is asked twice. Back ends,
 * and every figure of it, ask here. A plain value; the kernel is only read, a reason is constant text. */
#pragma once
#include "schedule/plan/plan.h"

typedef struct kept {
    int64_t dim[MAX_RANK];  /* by dimension of the node: from one element to the next; 0: a shared axis walks it */
    int64_t axis[MAX_AXIS]; /* by shared axis */
    int64_t size;           /* elements, gaps included */
    bool gaps;              /* a unit reads more than what a trip may write: zeros are to be there before */
} kept;
void kept_find(const kernel *k, int which, kept *out);
int kept_by(const kernel *k, const stage *reader, int load); /* the earlier stage that hands it on; -1: none does */
/* How far apart neighbours along an axis of the stage lie, of a load that is handed on, or of the result (MAX_LOADS)
 * where it is; in elements, 0 where that is not all there is to it, or it does not move. */
int64_t kept_stride(const kernel *k, const stage *s, int load, int axis);
/* Why a matrix unit cannot take the load, which is handed on, from where it lies; NULL: it can */
const char *kept_no_unit(const kernel *k, const stage *s, int load, int own, int folded);
/* Bytes of scratch that a kernel takes at most, if values and states of all stages lie there; of these, for copies and
 * for sums that lanes merge, one stage's after another's. */
int64_t kept_bytes(const plan *p, const kernel *k);
/* lanes: of the group, no fewer than the kernel asks for */
int64_t kept_besides(const plan *p, const kernel *k, int64_t lanes);
int64_t kept_by_group(const plan *p, const kernel *k, int64_t lanes); /* as kept_bytes, of such a group */
