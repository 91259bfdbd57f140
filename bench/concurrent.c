/* concurrent.c - threads that each run a plan of their own, one pass after the other, for the same time. */
#include "bench/concurrent.h"
#include "backends/probe/cpus.h"
#include "graph/base/base.h"
#include "graph/base/clock.h"
#include "graph/base/js.h"
#include "graph/base/stats.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { WARM = 2, ENOUGH_FOR_P99 = 100 };

typedef struct requester {
    const concurrent *c;
    const cpu_list *cpus;
    int first, threads; /* its processors */
    ts_plan *plan;
    pthread_barrier_t *start;
    pthread_t thread;
    bool ok;
    double *ns, began, ended;
    int n, cap;
    ts_error e;
} requester;

static bool one_pass(requester *r)
{
    const double from = seconds_now();
    if (!ts_plan_run(r->plan, &r->e))
        return false;
    r->ended = seconds_now();
    r->ns = heap_grown(r->ns, r->n, &r->cap, sizeof *r->ns);
    r->ns[r->n++] = (r->ended - from) * 1e9;
    return true;
}

static void *serve(void *arg)
{
    requester *r = arg;
    cpus_pin(r->cpus, r->first, r->threads);
    r->ok = true;
    for (int i = 0; i < WARM && r->ok; i++)
        r->ok = ts_plan_run(r->plan, &r->e);
    pthread_barrier_wait(r->start);
    r->began = seconds_now();
    while (r->ok && seconds_now() - r->began < r->c->seconds)
        r->ok = one_pass(r);
    return NULL;
}

/* Plans are made one after the other, each within the processors that it is to run on. */
static bool make_plan(requester *r, ts_error *e)
{
    const concurrent *c = r->c;
    ts_options o = c->options;
    o.threads = r->threads;
    cpus_pin(r->cpus, r->first, r->threads);
    bool ok = (r->plan = ts_plan_make(c->model, &o, e)) && ts_plan_build(r->plan, e);
    for (int i = 0; ok && i < c->n_inputs; i++)
        ok = ts_plan_set(r->plan, i, &c->value[i], e);
    cpus_pin(r->cpus, 0, r->cpus->n);
    return ok;
}

static bool same_bits(const requester *first, const requester *r, ts_error *e)
{
    bool same = true;
    for (int i = 0; same && i < ts_model_outputs(r->c->model); i++) {
        ts_array x = {0}, y = {0};
        same = ts_plan_get(first->plan, i, &x, e) && ts_plan_get(r->plan, i, &y, e);
        if (same && memcmp(x.data, y.data, (size_t)ts_array_count(&x) * (size_t)ts_dtype_bytes(x.dtype)) != 0)
            same = err_set(e, TS_NUMERICS, "output %d of a request has other bits than that of another one", i);
        ts_array_free(&x), ts_array_free(&y);
    }
    return same;
}

static bool run_all(requester *r, int n, ts_error *e)
{
    pthread_barrier_t start;
    bool ok = true;
    for (int i = 0; i < n && ok; i++)
        ok = make_plan(&r[i], e);
    if (!ok)
        return false;
    pthread_barrier_init(&start, NULL, (unsigned)n);
    for (int i = 0; i < n; i++) {
        r[i].start = &start;
        MUST(pthread_create(&r[i].thread, NULL, serve, &r[i]) == 0); /* CONCURRENT_MOST of them at most */
    }
    for (int i = 0; i < n; i++)
        pthread_join(r[i].thread, NULL);
    pthread_barrier_destroy(&start);
    for (int i = 0; i < n && ok; i++)
        if (!(ok = r[i].ok))
            *e = r[i].e;
    for (int i = 1; i < n && ok; i++)
        ok = same_bits(&r[0], &r[i], e);
    return ok;
}

/* Over all requests: from when the first began to when the last ended. */
static void add_row(cJSON *rows, const requester *r, int n)
{
    double began = INFINITY, ended = 0;
    int count = 0;
    for (int i = 0; i < n; i++)
        began = fmin(began, r[i].began), ended = fmax(ended, r[i].ended), count += r[i].n;
    ENDED_BY(heap_free) double *all = heap_array((size_t)count + 1, sizeof *all);
    for (int i = 0, at = 0; i < n; at += r[i++].n)
        memcpy(all + at, r[i].ns, (size_t)r[i].n * sizeof *all);
    stats_sort(all, count);
    js_put(js_row(rows, "requests:%d,threads:%d,seconds:%g,count:%d,per_second:%g", n, r[0].threads, ended - began,
                  count, count / (ended - began)),
           "p50_ns:%g,p90_ns:%g,p99_ns:%g", stats_quantile(all, count, 0.5), stats_quantile(all, count, 0.9),
           count < ENOUGH_FOR_P99 ? NAN : stats_quantile(all, count, 0.99));
}

bool concurrent_run(const concurrent *c, cJSON *rows, ts_error *e)
{
    cpu_list cpus;
    cpus_allowed(&cpus);
    const int n = c->requests, all = c->options.threads ? c->options.threads : cpus.cores;
    if (all > cpus.n)
        return err_set(e, TS_USAGE, "%d threads, 1 to %d expected: so many processors this process may use", all,
                       cpus.n);
    const int each = all / n > 1 ? all / n : 1;
    ENDED_BY(heap_free) requester *r = heap_array((size_t)n, sizeof *r);
    for (int i = 0; i < n; i++)
        r[i] = (requester){.c = c, .cpus = &cpus, .first = i * each % (all - each + 1), .threads = each};
    const bool ok = run_all(r, n, e);
    if (ok)
        add_row(rows, r, n);
    for (int i = 0; i < n; i++)
        ts_plan_free(r[i].plan), free(r[i].ns);
    return ok;
}
