/* guess_choice.c - loops of stages that choose by the number of a loop what they compute: the transforms of Winograd,
 * neighbours put side by side. The loops that choose are unrolled, so that each trip is written out with what it takes
 * and all of them share what they load; vectors run along the axis in which values lie in blocks, else the last. */
#include "schedule/guess_parts.h"

static int64_t trips_of(const stage *s, int a, int64_t step)
{
    return (s->extent[a] + step - 1) / step;
}

static int column_of(const plan *p, const stage *s)
{
    int last = -1;
    for (int a = 0; a < s->n_result; a++) {
        if (stage_block(p, s, a) > 1)
            return stage_choice(s, a) ? -1 : a;
        if (!stage_choice(s, a) && s->extent[a] > 1)
            last = a;
    }
    return last;
}

bool guess_choice(const plan *p, const kernel *k, const stage *s, text *out)
{
    int64_t step[MAX_AXIS];
    int column, core = -1;
    bool any = false;
    if (p->reference || k->n_stage > 1 || s->folds || (column = column_of(p, s)) < 0)
        return false;
    for (int a = 0; a < s->n_result; a++) {
        const int choice = stage_choice(s, a);
        any = any || choice;
        step[a] = choice ? choice : a == column ? stage_block(p, s, a) : 1;
        if (a == column && step[a] == 1)
            step[a] = nest_lanes(p, s);
    }
    if (!any)
        return false;
    for (int a = 0; a < s->n_result; a++) /* the evenest */
        if (guess_cores(p, k, s) && trips_of(s, a, step[a]) > 1 &&
            (core < 0 || guess_evenly(trips_of(s, a, step[a]), p->threads) >
                             guess_evenly(trips_of(s, core, step[core]), p->threads)))
            core = a;
    if (trips_of(s, column, step[column]) > 1)
        guess_put(out, s, column, step[column], core == column ? "core" : "");
    for (int a = 0; a < s->n_result; a++)
        if (a != column && trips_of(s, a, step[a]) > 1)
            guess_put(out, s, a, step[a], core == a ? "core" : "");
    for (int a = 0; a < s->n_result; a++)
        if (a != column && step[a] > 1)
            guess_put(out, s, a, 1, "unroll");
    guess_put(out, s, column, 1, "vector");
    return true;
}
