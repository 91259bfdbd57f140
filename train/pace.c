/* pace.c - a ring of times between ends of steps. */
#include "train/pace.h"

#include "graph/base/stats.h"

void pace_step(pace *p, double now)
{
    if (p->n > 0)
        p->seconds[(p->n - 1) % PACE_KEPT] = now - p->last;
    p->n++, p->last = now;
}

double pace_left(const pace *p, int64_t left)
{
    const int64_t between = p->n > 1 ? p->n - 1 : 0;
    return left ? (double)left * stats_median(p->seconds, (int)(between < PACE_KEPT ? between : PACE_KEPT)) : 0;
}
