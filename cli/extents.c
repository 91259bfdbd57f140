/* extents.c - bench --at seq=77,128: the program for all extents of --dim seq=1..512 and one for each extent alone, run
 * in turns in this process with the same values, so that what disturbs one disturbs the other. */
#include "cli/unraced.h"
#include "bench/bench.h"
#include "bench/measure.h"
#include "graph/base/clock.h"
#include "graph/base/base.h"
#include "graph/base/stats.h"
#include "cli/bug.h"
#include "cli/say.h"
#include "cli/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_ROUNDS = 5, MOST_ROUNDS = 10000, WARM = 2 };

typedef struct race {
    const args *a;
    session varying, alone; /* of the same model */
    ts_plan *plan;          /* for all extents */
    double time;            /* seconds for one extent */
    cJSON *rows;
} race;

/* The largest difference between results, by the largest number among them */
static bool differ(ts_plan *p, ts_plan *q, int n, double *most, ts_error *e)
{
    *most = 0;
    for (int i = 0; i < n; i++) {
        ts_array x = {0}, y = {0};
        if (!ts_plan_get(p, i, &x, e) || !ts_plan_get(q, i, &y, e))
            return ts_array_free(&x), false;
        if (ts_array_count(&x) != ts_array_count(&y))
            fail_bug("a result of another shape", "bench --at");
        const apart a = array_apart(&y, &x);
        *most = fmax(*most, a.scale > 0 ? a.most / a.scale : a.most);
        ts_array_free(&x), ts_array_free(&y);
    }
    return true;
}

typedef struct times {
    int n;
    double *varying, *alone, *ratio;
} times;

static bool run_timed(ts_plan *p, double *seconds, ts_error *e)
{
    const double from = seconds_now();
    const bool ok = ts_plan_run(p, e);
    *seconds = seconds_now() - from;
    return ok;
}

static bool in_turns(const race *r, ts_plan *alone, times *t, ts_error *e)
{
    double ignored;
    for (int i = 0; i < WARM; i++)
        if (!run_timed(alone, &ignored, e) || !run_timed(r->plan, &ignored, e))
            return false;
    for (const double end = seconds_now() + r->time; t->n < MOST_ROUNDS && (t->n < LEAST_ROUNDS || seconds_now() < end);
         t->n++) {
        double x, y; /* who begins changes from round to round */
        const bool ok = t->n % 2 ? run_timed(alone, &y, e) && run_timed(r->plan, &x, e)
                                 : run_timed(r->plan, &x, e) && run_timed(alone, &y, e);
        if (!ok)
            return false;
        t->varying[t->n] = x, t->alone[t->n] = y, t->ratio[t->n] = x / y;
    }
    return true;
}

/* ---- kernel by kernel ---- */
static cJSON *kernels_of(ts_plan *p, ts_error *e, const cJSON **list)
{
    cJSON *all = reply_take(ts_plan_json(p, e), e);
    *list = all ? js_get(all, "kernels") : NULL;
    return all;
}

static void put_kernel(cJSON *rows, const cJSON *varying, const cJSON *alone, double x, double y)
{
    js_row(rows, "op:%s,label:%s,varying_loops:%s,alone_loops:%s,alone_seconds:%g,varying_seconds:%g,ratio:%g",
           cJSON_GetStringValue(js_get(varying, "op")), cJSON_GetStringValue(js_get(varying, "label")),
           cJSON_GetStringValue(js_get(varying, "derived")), cJSON_GetStringValue(js_get(alone, "derived")), y, x,
           x / y);
}

enum { KERNEL_ROUNDS = 15 };

static bool time_kernels(const race *r, ts_plan *alone, const cJSON *varying, const cJSON *other, cJSON *row,
                         ts_error *e)
{
    const int n = cJSON_GetArraySize(varying);
    const size_t all = (size_t)n * KERNEL_ROUNDS + 1;
    double *x = heap_array(all, sizeof *x), *y = heap_array(all, sizeof *y),
           *one = heap_array((size_t)n + 1, sizeof *one), a[KERNEL_ROUNDS], b[KERNEL_ROUNDS];
    bool ok = true;
    for (int i = 0; ok && i < KERNEL_ROUNDS; i++) {
        ok = ts_plan_run_timed(r->plan, one, n, e);
        for (int k = 0; k < n; k++)
            x[k * KERNEL_ROUNDS + i] = one[k];
        ok = ok && ts_plan_run_timed(alone, one, n, e);
        for (int k = 0; k < n; k++)
            y[k * KERNEL_ROUNDS + i] = one[k];
    }
    cJSON *rows = ok ? js_array(row, "kernels") : NULL;
    for (int k = 0; ok && k < n; k++) {
        memcpy(a, x + (size_t)k * KERNEL_ROUNDS, sizeof a), memcpy(b, y + (size_t)k * KERNEL_ROUNDS, sizeof b);
        put_kernel(rows, cJSON_GetArrayItem(varying, k), cJSON_GetArrayItem(other, k),
                   stats_quantile_take(a, KERNEL_ROUNDS, 0), stats_quantile_take(b, KERNEL_ROUNDS, 0));
    }
    free(x), free(y), free(one);
    return ok;
}

/* Each kernel's time, where both programs have the same ones */
static bool add_kernels(const race *r, ts_plan *alone, cJSON *row, ts_error *e)
{
    const cJSON *varying, *other;
    cJSON *all = kernels_of(r->plan, e, &varying), *of = all ? kernels_of(alone, e, &other) : NULL;
    bool ok = all && of, same = ok && cJSON_GetArraySize(varying) == cJSON_GetArraySize(other);
    for (int k = 0; same && k < cJSON_GetArraySize(varying); k++)
        same = cJSON_Compare(js_get(cJSON_GetArrayItem(varying, k), "op"), js_get(cJSON_GetArrayItem(other, k), "op"),
                             true);
    if (same)
        ok = time_kernels(r, alone, varying, other, row, e);
    else if (ok)
        js_absent(row, "kernels", "the programs have other kernels");
    cJSON_Delete(all), cJSON_Delete(of);
    return ok;
}

static cJSON *put_row(race *r, const char *extent, double first, double far, times *t)
{
    return js_row(r->rows, "extent:%g,rounds:%d,alone_seconds:%g,varying_seconds:%g,first_seconds:%g,ratio:%g,apart:%g",
                  strtod(extent, NULL), t->n, stats_median_take(t->alone, t->n), stats_median_take(t->varying, t->n),
                  first, stats_median_take(t->ratio, t->n), far);
}

/* s: the model at this extent, values and all; first: the program for all meets it */
static bool race_plans(race *r, ts_plan *alone, const char *extent, times *t, ts_error *e)
{
    double far;
    if (!ts_plan_build(alone, e) || !session_feed(&r->alone, alone, e) || !ts_plan_run(alone, e))
        return false;
    const double from = seconds_now();
    if (!session_feed(&r->alone, r->plan, e) || !ts_plan_run(r->plan, e))
        return false;
    const double first = seconds_now() - from;
    if (!differ(alone, r->plan, ts_model_outputs(r->alone.model), &far, e) || !in_turns(r, alone, t, e))
        return false;
    cJSON *row = put_row(r, extent, first, far, t);
    return !args_flag(r->a, "kernels") || add_kernels(r, alone, row, e);
}

static bool race_at(race *r, const char *dim, ts_error *e)
{
    session *s = &r->alone;
    times t = {0, heap_array(MOST_ROUNDS, sizeof *t.varying), heap_array(MOST_ROUNDS, sizeof *t.alone),
               heap_array(MOST_ROUNDS, sizeof *t.ratio)};
    bool ok = session_open_at(s, r->a, args_noun(r->a, 0), dim, e) &&
              session_fill(s, (uint64_t)args_integer(r->a, "seed"), e);
    ts_plan *alone = ok ? ts_plan_make(s->model, &s->options, e) : NULL;
    ok = alone && race_plans(r, alone, strrchr(dim, '=') + 1, &t, e);
    progress_close(&s->progress);
    ts_plan_free(alone);
    session_close(s);
    *s = (session){0};
    free(t.varying), free(t.alone), free(t.ratio);
    return ok;
}

/* "seq=77,128": one after the other */
static bool race_all(race *r, const char *at, ts_error *e)
{
    const char *equals = strrchr(at, '=');
    bool ok = equals || err_set(e, TS_USAGE, "--at \"%s\" is not of the form NAME=EXTENT,EXTENT,...", at);
    for (const char *x = equals ? equals + 1 : ""; ok && *x; x += strspn(x, ",")) {
        const int n = (int)strcspn(x, ",");
        ENDED_BY(text_free) text dim = {0};
        text_add(&dim, "%.*s=%.*s", (int)(equals - at), at, n, x);
        ok = race_at(r, text_str(&dim), e);
        x += n;
    }
    return ok;
}

static const char form[] =
    "{at!extent|>rounds|>alone_seconds|>varying_seconds|>first_seconds|>ratio|>apart}"
    "[at*[kernels?\nkernels at {extent:%g}\n{kernels!op|label|>alone_seconds|>varying_seconds|>ratio}|"
    "[why/kernels?\nkernels at {extent:%g}: {why/kernels}\n]]]";

bool extents_race(const args *a, ts_error *e)
{
    race r = {.a = a, .time = args_count(a, "min-time") ? args_number(a, "min-time") : bench_usual.min_time};
    cJSON *root = reply_make("extents/1");
    js_text(root, "model", args_noun(a, 0));
    r.rows = js_array(root, "at");
    bool ok = session_open(&r.varying, a, args_noun(a, 0), e);
    if (ok && !session_varies(&r.varying)) {
        ok = err_set(e, TS_USAGE, "bench: --at compares a program for a range of extents, and no --dim gives one");
        err_hint(e, "give a bound: --dim seq=1..512");
    }
    r.plan = ok ? session_varying_make(&r.varying, e) : NULL;
    ok = r.plan && ts_plan_build(r.plan, e);
    progress_close(&r.varying.progress);
    if (ok)
        session_tell(&r.varying, r.plan, NULL);
    for (int i = 0; ok && i < args_count(a, "at"); i++)
        ok = race_all(&r, args_at(a, "at", i), e);
    reply_done(a, ok, root, form);
    ts_plan_free(r.plan);
    session_close(&r.varying);
    return ok;
}
