/* trial_time.c - how long values and derivatives of a problem take, ours and the library's in turns. */
#include "cli/trial_parts.h"

#include "graph/base/clock.h"
#include "graph/base/err.h"

#include <math.h>

typedef struct timed { /* plan k, or the library's function k */
    trial *t;
    int k;
    bool other;
} timed;

static bool run_for(timed of, int64_t times, double *seconds, ts_error *e)
{
    const double begin = seconds_now();
    for (int64_t i = 0; i < times; i++) {
        if (of.other)
            trial_call_other(of.t, of.k);
        else if (!ts_plan_run(of.t->plan[of.k], e))
            return false;
    }
    return *seconds = seconds_now() - begin, true;
}

/* times: runs that take `least` seconds together; took: seconds of one of them. */
static bool enough(timed of, double least, int64_t *times, double *took, ts_error *e)
{
    *times = 1;
    if (!run_for(of, 1, took, e)) /* the first run warms up */
        return false;
    while (run_for(of, *times, took, e) && *took < least)
        *times *= 2;
    return *took /= (double)*times, !err_is(e);
}

/* k: of plan k, and of the library's function k. The shortest sample counts: what disturbs only makes it longer. */
static bool measure(trial *t, int k, const trial_limits *by, ts_error *e)
{
    int64_t times[2];
    double *best[2] = {&t->time[k], &t->other_time[k]}, took, all = 0;
    const int sides = t->library ? 2 : 1;
    for (int s = 0; s < sides; s++)
        if (!enough((timed){t, k, s}, by->least, &times[s], best[s], e))
            return false;
    for (int i = 1; i < by->samples[k] && all < by->most * sides; i++)
        for (int s = 0; s < sides; s++) {
            if (!run_for((timed){t, k, s}, times[s], &took, e))
                return false;
            all += took;
            *best[s] = fmin(*best[s], took / (double)times[s]);
        }
    return true;
}

bool trial_measure(trial *t, const trial_limits *by, ts_error *e)
{
    if (!measure(t, 0, by, e) || !measure(t, 1, by, e) || !trial_derive(t, e))
        return false;
    if (!t->library)
        return true;
    t->other = 0;
    trial_call_other(t, 1);
    for (int i = 0; i < t->p.n_value + t->p.n_slope; i++)
        for (int64_t j = 0; j < ts_array_count(&t->got[i]); j++) {
            const double d = trial_apart(ts_array_at(&t->got[i], j), t->theirs[i][j]);
            t->other = fmax(t->other, d);
        }
    return true;
}
