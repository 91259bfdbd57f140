/* watch.c - plans run kernel by kernel: for the time of each, and for where a number stopped being one. */
#include "backends/driver.h"
#include "graph/base/clock.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

/* ---- times ---- */
typedef struct stopwatch {
    double *seconds, start;
} stopwatch;

static void stop_at(void *user, int k)
{
    stopwatch *w = user;
    const double end = seconds_now();
    w->seconds[k] = end - w->start;
    w->start = end;
}

static bool time_through(ts_plan *p, void *const *input, void *user, err *e)
{
    stopwatch w = {user, seconds_now()};
    if (p->by->kernels->time)
        return p->by->kernels->time(p->program, input, user, e);
    return p->by->kernels->each(p->program, input, stop_at, &w, e);
}

static bool has_times(const ts_plan *p, err *e)
{
    if (p->by->kernels)
        return true;
    err_set(e, TS_UNSUPPORTED, "target %s does not time kernels", p->target->name);
    return err_hint(e, "--target names another one; tessera doctor lists them");
}

static bool can_time(const ts_plan *p, const double *seconds, int n, err *e)
{
    if (!driver_stands(p, e) || !err_given(seconds, "the list of seconds", e))
        return false;
    if (n < p->plan->n_kernel)
        return err_set(e, TS_USAGE, "room for %d kernels, the plan has %d", n, p->plan->n_kernel);
    return has_times(p, e);
}

bool ts_plan_run_timed(ts_plan *p, double *seconds, int n, ts_error *e)
{
    return can_time(p, seconds, n, e) && driver_run(p, time_through, seconds, e);
}

/* ---- traces ---- */
void tracer_tell(void *user, int thread, int k, double begin, double end)
{
    const tracer *t = user;
    const ts_plan *p = t->p;
    const int on = p->plan->n_site ? p->plan->kernel[k].site : 0;
    t->seen(t->user, &(ts_span){.kernel = k,
                                .lane = thread < 0 ? on : thread,
                                .thread = thread,
                                .device = p->plan->n_site ? p->plan->site[on].name : p->target->name,
                                .begin = begin - t->start,
                                .end = end - t->start});
}

static bool trace_through(ts_plan *p, void *const *input, void *user, err *e)
{
    tracer *t = user;
    if (p->by->kernels->trace)
        return p->by->kernels->trace(p->program, input, tracer_tell, t, e);
    double *seconds = heap_array((size_t)p->plan->n_kernel + 1, sizeof *seconds), at = seconds_now();
    const bool ok = time_through(p, input, seconds, e);
    for (int k = 0; ok && k < p->plan->n_kernel; at += seconds[k++])
        tracer_tell(t, -1, k, at, at + seconds[k]);
    free(seconds);
    return ok;
}

bool tracer_run(tracer *t, err *e)
{
    return has_times(t->p, e) && driver_run(t->p, trace_through, t, e);
}

bool ts_plan_run_traced(ts_plan *p, void (*seen)(void *user, const ts_span *s), void *user, ts_error *e)
{
    return driver_stands(p, e) && err_given(seen ? p : NULL, "who is told of spans", e) &&
           tracer_run(&(tracer){.p = p, .seen = seen, .user = user, .start = seconds_now()}, e);
}

/* ---- medians ---- */
static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Kernels that write into inputs write into copies of them. */
static bool stand_ins(const ts_plan *p, void **input, ts_array *copy, err *e)
{
    for (int i = 0; i < p->plan->n_carried; i++) {
        const int k = p->plan->carried[i].input;
        if (!driver_bring(p, k, e) || !driver_copy(&copy[i], &p->given[k], e))
            return false;
        input[k] = copy[i].data;
    }
    return true;
}

bool ts_plan_profile(ts_plan *p, int repeats, double *seconds, int n, ts_error *e)
{
    if (repeats < 1)
        return err_set(e, TS_USAGE, "%d repeats: 1 is the least", repeats);
    if (!can_time(p, seconds, n, e) || !ts_plan_build(p, e) || !merges_await(p, e))
        return false;
    const int k = p->plan->n_kernel;
    p->last = NOT_RUN; /* what states become is not where a run leaves it */
    ENDED_BY(heap_free) void **input = heap_array((size_t)p->plan->n_input + 1, sizeof *input);
    double *all = heap_array((size_t)repeats * (size_t)k + 1, sizeof *all),
           *one = heap_array((size_t)repeats + 1, sizeof *one);
    ENDED_BY(heap_free) ts_array *stand_in = heap_array((size_t)p->plan->n_carried + 1, sizeof *stand_in);
    bool ok = driver_gather(p, input, e) && stand_ins(p, input, stand_in, e);
    for (int r = 0; ok && r < repeats; r++)
        ok = time_through(p, input, all + (size_t)r * (size_t)k, e);
    for (int i = 0; ok && i < k; i++) {
        for (int r = 0; r < repeats; r++)
            one[r] = all[(size_t)r * (size_t)k + (size_t)i];
        qsort(one, (size_t)repeats, sizeof *one, ascending);
        seconds[i] = (one[(repeats - 1) / 2] + one[repeats / 2]) / 2;
    }
    if (ok && !p->plan->n_carried)
        p->last = RAN, p->runs++;
    for (int i = 0; i < p->plan->n_carried; i++)
        ts_array_free(&stand_in[i]), driver_changed(p, p->plan->carried[i].input);
    free(all), free(one);
    return ok;
}

/* ---- stops ---- */
typedef struct stops {
    int n;
    const int *kernel;
    void (*at)(void *user, int i);
    void *user;
} stops;

static bool go_by_stops(ts_plan *p, void *const *input, void *user, err *e)
{
    const stops *s = user;
    const bool halts = p->by->at_once && p->by->spans;
    int i = 0, first = 0;
    bool ok = true;
    for (; ok && i < s->n && s->kernel[i] < p->plan->n_kernel && (halts || s->kernel[i] <= 0); i++) {
        if (s->kernel[i] > first)
            ok = p->by->spans->span(p->program, input, first, s->kernel[i], e), first = s->kernel[i];
        p->at = first, p->to = first > p->to ? first : p->to;
        if (ok)
            s->at(s->user, i);
    }
    ok = ok && (first ? p->by->spans->span(p->program, input, first, p->plan->n_kernel, e)
                      : p->by->run(p->program, input, e));
    for (; ok && i < s->n; i++)
        s->at(s->user, i);
    return ok;
}

bool ts_plan_run_stops(ts_plan *p, int n, const int *before, void (*at)(void *user, int i), void *user, ts_error *e)
{
    if (!driver_stands(p, e) || (n > 0 && !err_given(before, "the list of kernels", e)))
        return false;
    return driver_run(p, go_by_stops, &(stops){n, before, at, user}, e);
}

bool ts_plan_touched(const ts_plan *p, int input, int *first, int *written, ts_error *e)
{
    if (!driver_stands(p, e) || !err_given(first, "the first kernel", e) || !err_given(written, "the last one", e))
        return false;
    if (input < 0 || input >= p->n_port)
        return err_set(e, TS_USAGE, "input %d, but the plan has %d of them, counted from 0", input, p->n_port);
    const int at = p->input_of[input];
    *first = *written = INT_MAX;
    for (int k = 0; at >= 0 && k < p->plan->n_kernel; k++)
        for (int i = 0; i < p->plan->kernel[k].n_stage; i++) {
            const stage *s = &p->plan->kernel[k].stage[i];
            const bool writes = !s->scratch && input_of(p->plan, s->node) == at;
            bool touches = writes;
            for (int j = 0; j < s->n_load; j++)
                touches = touches || input_of(p->plan, s->load[j]->from) == at;
            *first = touches && *first == INT_MAX ? k : *first;
            *written = writes && p->by->at_once ? k + 1 : *written;
        }
    return true;
}

/* ---- numbers that are none ---- */
typedef struct search {
    const ts_plan *p;
    ts_stray *nan, *infinite; /* the first of each */
} search;

typedef struct value { /* in memory */
    const type *type;
    const layout *layout; /* NULL: in rows */
    dtype stored;
    const void *at;
} value;

static void count_bad(const value *v, ts_stray *nan, ts_stray *infinite)
{
    int64_t at[MAX_RANK] = {0};
    const int64_t n = type_count(v->type);
    nan->bad = infinite->bad = 0, nan->count = infinite->count = n;
    for (int64_t i = 0; i < n; i++) {
        const double x = load_real(v->stored, v->at, v->layout ? layout_place(v->layout, at) : i);
        if (isnan(x) && !nan->bad++)
            nan->first = i;
        if (isinf(x) && !infinite->bad++)
            infinite->first = i;
        for (int d = v->type->rank; v->layout && d-- > 0 && ++at[d] == v->type->dim[d];)
            at[d] = 0;
    }
}

static void look_at(const search *s, const value *v, ts_stray who)
{
    ts_stray nan = who, infinite = who;
    if (dtype_class(v->type->dtype) != D_REAL || (s->nan->bad && s->infinite->bad))
        return;
    count_bad(v, &nan, &infinite);
    if (nan.bad && !s->nan->bad)
        *s->nan = nan;
    if (infinite.bad && !s->infinite->bad)
        *s->infinite = infinite;
}

static void look_at_kernel(void *user, int k)
{
    const search *s = user;
    const plan *q = s->p->plan;
    const kernel *own = &q->kernel[k];
    for (int i = 0; i < own->n_stage && !own->moves; i++) {
        const node *n = own->stage[i].node;
        const buffer *h = &q->buffer[n->id];
        value v = {.type = &n->type, .layout = layout_is_rows(&h->layout, &n->type) ? NULL : &h->layout};
        if (own->stage[i].scratch || h->where != IN_ARENA)
            continue;
        v.at = s->p->by->at(s->p->program, n, &v.stored);
        if (v.at)
            look_at(s, &v, (ts_stray){.kernel = k, .op = own->op, .label = own->label});
    }
}

static bool look_through(ts_plan *p, void *const *input, void *user, err *e)
{
    const search *s = user;
    for (int i = 0; i < p->plan->n_input; i++) {
        const node *n = p->plan->input[i];
        const value v = {.type = &n->type, .stored = n->type.dtype, .at = input[i]};
        if (!driver_bring(p, i, e))
            return false;
        look_at(s, &v, (ts_stray){.kernel = -1, .op = "input", .label = n->label});
    }
    return p->by->kernels->each(p->program, input, look_at_kernel, user, e);
}

bool ts_plan_strays(ts_plan *p, ts_stray *nan, ts_stray *infinite, ts_error *e)
{
    search s = {p, nan, infinite};
    if (!driver_stands(p, e) || !err_given(nan, "what NaN is said in", e) ||
        !err_given(infinite, "what infinity is said in", e))
        return false;
    *nan = *infinite = (ts_stray){.kernel = -1};
    if (!p->by->kernels || !p->by->at)
        return err_set(e, TS_UNSUPPORTED, "target %s does not show what its kernels write", p->target->name);
    return driver_run(p, look_through, &s, e);
}
