/* guess_states.c - folds of several values, a largest element and its place: in parts that cores share, where a few
 * long rows are folded and their number is not enough for the cores. Parts follow from extents alone, never from the
 * number of threads: bits stay the same on any. Sums of one value stay whole, and keep the bits that they have. */
#include "backends/cpu/guess_parts.h"
#include "schedule/nest/nest.h"

/* PART: elements, some 10 us of work beside 1 us that the second kernel's start takes; FEW: rows, less than the cores
 * of most machines; MOST: parts of a row */
enum { PART = 32768, FEW = 32, MOST = 64 };

static bool varies(const stage *s)
{
    bool any = false;
    for (int a = 0; a < s->n_axis; a++)
        any = any || s->varies[a].by;
    return any;
}

bool guess_states(const plan *p, const kernel *k, const stage *s, nesting *b)
{
    const double rows = stage_points(s, 0, s->n_result), points = stage_points(s, s->n_result, s->n_axis);
    int longest = s->n_result;
    if (stage_states(s) < 2 || k->n_stage > 1 || k->merges || p->part || p->reference || p->reproducible ||
        !nest_splits(s) || varies(s) || rows < 1 || rows > FEW || points < 4 * PART)
        return false;
    for (int a = s->n_result; a < s->n_axis; a++)
        longest = s->extent[a] > s->extent[longest] ? a : longest;
    const double others = points / (double)s->extent[longest] * rows;
    const int64_t step = int_max(int_ceil_div(s->extent[longest], MOST), (int64_t)(PART / others));
    if (step < 1 || 2 * step > s->extent[longest])
        return false;
    nest_put(b, longest, target_aligned(p->on, step), CPU_CORE);
    return true;
}
