/* pipeline.c - many runs of a plan in order: in turns, or, over several devices, one behind the other. */
#include "backends/driver.h"
#include "graph/base/clock.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static bool room_for(const ts_plan *p, int k, const ts_array *to, err *e)
{
    const type *t = &p->plan->root[k]->type;
    bool fits = to->dtype == t->dtype && to->rank == t->rank;
    for (int d = 0; fits && d < t->rank; d++)
        fits = to->dim[d] == t->dim[d];
    return fits ||
           err_set(e, TS_USAGE, "the array for output %d has another dtype or shape than %s", k, type_said(t).s);
}

static bool take_turns(ts_plan *p, const ts_pipeline *w, int n_out, tracer *t, err *e)
{
    bool ok = true;
    for (int i = 0; i < w->n && ok; i++) {
        for (int k = 0; k < p->n_port && ok; k++)
            ok = ts_plan_set(p, k, &w->in[i * p->n_port + k], e);
        ok = ok && (w->seen ? tracer_run(t, e) : ts_plan_run(p, e));
        for (int k = 0; k < n_out && ok; k++)
            ok = driver_value(p, k, &w->out[i * n_out + k], e);
        ok = ok || err_in(e, "run %d", i);
    }
    return ok;
}

/* By the plan's numbers of inputs and roots. */
static bool go_together(ts_plan *p, const ts_pipeline *w, int n_out, tracer *t, err *e)
{
    const plan *q = p->plan;
    void **input = heap_array((size_t)w->n * (size_t)q->n_input + 1, sizeof *input);
    bool ok = true;
    for (int i = 0; i < w->n; i++)
        for (int k = 0; k < p->n_port && ok; k++) {
            const ts_array *value = &w->in[i * p->n_port + k];
            ok = driver_takes(p, k, value, e) || err_in(e, "run %d", i);
            if (ok && p->input_of[k] >= 0)
                input[i * q->n_input + p->input_of[k]] = value->data;
        }
    ok = ok &&
         p->by->pipeline(
             p->program,
             &(pipeline){.n = w->n, .input = input, .out = w->out, .seen = w->seen ? tracer_tell : NULL, .user = t}, e);
    for (int i = 0; i < w->n * n_out && ok; i++) { /* what no kernel makes */
        const int k = input_of(q, q->root[i % n_out]);
        if (k >= 0)
            memcpy(w->out[i].data, input[i / n_out * q->n_input + k], (size_t)type_bytes(&q->root[i % n_out]->type));
        else if (q->root[i % n_out]->leaf)
            ok = p->by->get(p->program, i % n_out, &w->out[i], e);
    }
    free(input);
    return ok;
}

static bool count_fits(const ts_plan *p, int n, err *e)
{
    const int64_t each = 2LL * p->plan->n_kernel + p->plan->n_input + p->n_port + p->plan->n_root;
    return (n > 0 && n <= INT_MAX / (each + 1)) ||
           err_set(e, TS_USAGE, "%d runs: 1 to %lld expected", n, (long long)(INT_MAX / (each + 1)));
}

bool ts_plan_pipeline(ts_plan *p, const ts_pipeline *w, ts_error *e)
{
    if (!driver_stands(p, e) || !err_given(w, "the runs", e) || !err_given(w->in, "the values of inputs", e) ||
        !err_given(w->out, "the arrays for results", e) || !merges_none(p, e) || !ts_plan_build(p, e) ||
        !count_fits(p, w->n, e))
        return false;
    const plan *q = p->plan;
    const int n_out = q->n_root - q->n_carried;
    if (q->variables)
        return err_set(e, TS_UNSUPPORTED, "a pipeline of runs that differ in extents: each is to be run by itself");
    for (int i = 0; i < w->n; i++)
        for (int k = 0; k < n_out; k++)
            if (!room_for(p, k, &w->out[i * n_out + k], e))
                return err_in(e, "run %d", i);
    tracer t = {p, w->seen, w->user, seconds_now()};
    const bool ok = p->by->pipeline && !q->n_carried ? go_together(p, w, n_out, &t, e) : take_turns(p, w, n_out, &t, e);
    p->last = NOT_RUN;
    return ok;
}
