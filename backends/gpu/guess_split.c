/* guess_split.c - sums in parts, where a card has more processors than there are groups of results: parts of a long
 * sum go to groups of their own, and a kernel behind adds them up. That costs a kernel's start, and the parts' way to
 * memory and back; what it gains is what groups read at the same time. */
#include "backends/gpu/guess_parts.h"

#include "schedule/nest/nest.h"
#include "schedule/passes/split.h"

#include <math.h>

enum { PARTS_MOST = 512, TRIPS = 4 }; /* of one sum; of a part's own loop, at least */

bool gpu_may_split(const plan *p, const kernel *k, const stage *s)
{
    return k->n_stage == 1 && !k->merges && !p->part && !p->reference && !p->reproducible && stage_states(s) &&
           nest_splits(s);
}

double gpu_merge_cycles(const plan *p, double results, int64_t bytes, int64_t parts)
{
    const target *t = p->on;
    const double all = t->level[GPU_L2].bytes_per_cycle * t->workers;
    return t->cost.start_seconds * t->cost.cycles_per_second + GPU_LATENCY +
           2 * results * (double)(parts * bytes) / all;
}

/* Trips that the group's lanes make over an axis that is folded, one after the other */
static int64_t trips(const dealt *d, int a)
{
    return int_ceil_div(d->left[a], d->lanes[a] * d->each[a]);
}

static double cycles(const dealt *d, double groups, double results, int64_t parts)
{
    const target *t = d->p->on;
    const double own = d->k->bytes / groups / (double)parts, rounds = ceil(groups * (double)parts / t->workers),
                 all = d->k->bytes / (t->level[GPU_MEMORY].bytes_per_cycle * t->workers);
    return fmax(rounds * own / t->level[GPU_L2].bytes_per_cycle, all) +
           (parts > 1 ? gpu_merge_cycles(d->p, results, split_bytes(stage_fold(d->s)), parts) : 0);
}

void gpu_split(dealt *d)
{
    const stage *s = d->s;
    int longest = s->n_result;
    double groups = 1, results = 1;
    for (int a = 0; a < s->n_result; a++)
        groups *= (double)trips(d, a), results *= (double)d->left[a];
    for (int a = s->n_result; a < s->n_axis; a++)
        longest = trips(d, a) > trips(d, longest) ? a : longest;
    if (!gpu_may_split(d->p, d->k, s) || longest >= s->n_axis || groups < 1)
        return;
    int64_t best = 1;
    double fewest = cycles(d, groups, results, 1);
    for (int64_t parts = 2; parts <= PARTS_MOST && parts * TRIPS <= trips(d, longest); parts *= 2)
        if (cycles(d, groups, results, parts) < fewest)
            best = parts, fewest = cycles(d, groups, results, parts);
    if (best > 1)
        d->part[longest] = int_ceil_div(trips(d, longest), best) * d->lanes[longest] * d->each[longest];
}
