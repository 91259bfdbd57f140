/* trial.c - one plan in which rules say something else of some kernels: made, checked, compared, timed kernel by
 * kernel in turns with the base, so that what disturbs the machine disturbs both, and each kernel finds the caches as
 * the model leaves them. */
#include "bench/measure.h"
#include "bench/tune/parts.h"
#include "bench/verify.h"
#include "graph/base/base.h"
#include "graph/base/clock.h"
#include "graph/base/formats.h"
#include "graph/base/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_RUNS = 3, MOST_RUNS = 15, PATH = 4096 };
static const double trial_time = 0.5; /* seconds for the runs of one trial */

/* The least of some runs: what disturbs a kernel makes it longer. A base that takes most of the time is run once. */
static bool time_in_turns(void *user, ts_plan *base, ts_plan *trial, const int n[2], double *seconds[2], ts_error *e)
{
    ts_plan *of[] = {base, trial};
    ENDED_BY(heap_free) double *once = heap_array((size_t)(n[0] > n[1] ? n[0] : n[1]) + 1, sizeof *once);
    const double begun = seconds_now();
    double of_base = 0;
    bool ok = true;
    (void)user;
    for (int run = 0; ok && run < MOST_RUNS && (run < LEAST_RUNS || seconds_now() < begun + trial_time); run++)
        for (int i = 0; i < 2 && ok; i++) {
            if (!i && of_base > trial_time / 2)
                continue;
            ok = ts_plan_run_timed(of[i], once, n[i], e);
            for (int k = 0; !i && k < n[i]; k++)
                of_base += once[k];
            for (int k = 0; ok && k < n[i]; k++)
                seconds[i][k] = run < 2 ? once[k] : fmin(seconds[i][k], once[k]); /* the first one warms up */
        }
    return ok;
}

static bool all_right(tuner *t, ts_plan *p, char why[SAID], ts_error *e)
{
    bool right = ts_plan_run(p, e);
    for (int i = 0; right && i < t->n_output; i++) {
        ts_array got = {0};
        if (!(right = ts_plan_get(p, i, &got, e)))
            break;
        const apart a = array_apart(&got, &t->output[i]); /* as bench compares */
        if (!(right = a.most <= verify_tolerance(got.dtype) * a.scale))
            snprintf(why, SAID, "output %d is not what it was", i);
        ts_array_free(&got);
    }
    return right;
}

bool trial_inputs(const tuner *t, ts_plan *p, ts_error *e)
{
    bool ok = true;
    for (int i = 0; ok && i < ts_model_inputs(t->model); i++)
        ok = ts_plan_set(p, i, &t->value[i], e);
    return ok;
}

/* By a schema's name or file; json: what it is, where it could be made */
static ts_plan *plan_of(tuner *t, const char *schema, cJSON **json, ts_error *e)
{
    ts_options o = t->plan;
    o.schema = schema;
    ts_plan *p = ts_plan_make(t->model, &o, e);
    ENDED_BY(heap_free) char *said = p ? ts_plan_json(p, e) : NULL;
    *json = said ? js_parse(said, "the plan", e) : NULL;
    return p;
}

bool trial_base(tuner *t, ts_error *e)
{
    t->base = plan_of(t, t->o->schema, &t->json, e);
    t->n_kernel = cJSON_GetArraySize(js_get(t->json, "kernels"));
    return t->json != NULL;
}

static ts_plan *plan_by(tuner *t, const char *schema, cJSON **json, ts_error *e)
{
    char path[PATH];
    *json = NULL;
    snprintf(path, sizeof path, "%s/trial.json", t->o->folder);
    return ts_file_write(path, schema, strlen(schema), e) ? plan_of(t, path, json, e) : NULL;
}

void trial_usual(tuner *t, double *seconds)
{
    const size_t n = (size_t)t->n_kernel, rows = (size_t)t->n_seen + 1;
    double *all = reallocarray(t->seen, rows * n + 1, sizeof *all);
    ENDED_BY(heap_free) double *column = heap_array(rows, sizeof *column);
    MUST(all);
    t->seen = all, t->n_seen++;
    memcpy(all + (rows - 1) * n, seconds, n * sizeof *all);
    for (size_t k = 0; k < n; k++) {
        for (size_t i = 0; i < rows; i++)
            column[i] = all[i * n + k];
        stats_sort(column, (int)rows);
        seconds[k] = fmin(seconds[k], column[(rows - 1) / 2]);
    }
}

bool trial_by(tuner *t, const char *schema, double *seconds[2], cJSON **json, char why[SAID], ts_error *e)
{
    *why = 0;
    ts_plan *p = plan_by(t, schema, json, e);
    const int n[] = {t->n_kernel, cJSON_GetArraySize(js_get(*json, "kernels"))};
    for (int i = 0; i < 2; i++)
        seconds[i] = heap_array((size_t)n[i] + 1, sizeof *seconds[i]);
    const bool ok = *json && ts_plan_build(p, e) && trial_inputs(t, p, e) && all_right(t, p, why, e) &&
                    (t->o->time ? t->o->time : time_in_turns)(t->o->user, t->base, p, n, seconds, e);
    ts_plan_free(p);
    if (ok)
        trial_usual(t, seconds[0]);
    return ok;
}

/* ---- attempts as a schema ---- */
/* Names as globs: what means something in one fits any character. */
static void put_glob(cJSON *match, const char *name)
{
    ENDED_BY(text_free) text s = {0};
    text_add(&s, "%s", name);
    for (size_t i = 0; i < s.length; i++)
        s.s[i] = strchr("*?[]\\", s.s[i]) ? '?' : s.s[i];
    js_text(match, "name", text_str(&s));
}

bool trial_followed(const cJSON *kernel, int i)
{
    char name[16];
    snprintf(name, sizeof name, "t%d", i);
    return strcmp(js_get_text(kernel, "rule"), name) == 0;
}

static void put_rule(cJSON *list, const attempt *a, int number, const cJSON *kernel)
{
    char name[16];
    const cJSON *c;
    snprintf(name, sizeof name, "t%d", number);
    cJSON *rule = js_row(list, "name:%s,optional:%i", name, true), *match = js_object(rule, "match");
    js_text(match, "op", js_get_text(a->of->first, "op"));
    if (!a->of->all) {
        js_text(match, "dtype", js_get_text(a->of->first, "dtype"));
        if (*js_get_text(kernel, "label"))
            put_glob(match, js_get_text(kernel, "label"));
        cJSON_AddItemToObject(match, "dims", cJSON_Duplicate(js_get(a->of->first, "dims"), true));
    }
    cJSON_ArrayForEach(c, a->change) cJSON_AddItemToObject(rule, c->string, cJSON_Duplicate(c, true));
}

/* A rule for each kernel, by its name: others of its extents may be about to become other kernels. */
static char *schema_of(const tuner *t, int n, const attempt *of)
{
    cJSON *o = js_put(cJSON_CreateObject(), "format:%s,name:%s,extends:%s", FORMAT_TILING, "trial", t->o->base),
          *list = js_array(o, "rules");
    for (int i = 0; i < n; i++)
        for (int k = 0; k < (of[i].of->all ? 1 : of[i].of->n); k++)
            put_rule(list, &of[i], i, cJSON_GetArrayItem(js_get(t->json, "kernels"), of[i].of->kernel[k]));
    char *s = js_to_text(o, false);
    cJSON_Delete(o);
    return s;
}

ts_plan *trial_plan(tuner *t, int n, const attempt *of, cJSON **json, ts_error *e)
{
    ENDED_BY(heap_free) char *schema = schema_of(t, n, of);
    return plan_by(t, schema, json, e);
}

/* The same kernels, walked otherwise: a rule may keep an operation from becoming others. */
static bool same_kernels(const tuner *t, const cJSON *plan)
{
    const cJSON *a = js_get(t->json, "kernels"), *b = js_get(plan, "kernels");
    a = a ? a->child : NULL, b = b ? b->child : NULL;
    for (; a && b; a = a->next, b = b->next)
        if (strcmp(js_get_text(a, "op"), js_get_text(b, "op")) != 0)
            return false;
    return a == b;
}

/* Times of those whose rule was followed */
static void take_times(const cJSON *plan, double *const seconds[2], int n, attempt *of)
{
    for (int i = 0; i < n; i++) {
        attempt *a = &of[i];
        a->status = "correct";
        for (int k = 0; k < a->of->n; k++) {
            if (!trial_followed(cJSON_GetArrayItem(js_get(plan, "kernels"), a->of->kernel[k]), i))
                a->status = "refused", snprintf(a->why, SAID, "its kernels cannot all have these loops");
            a->base += seconds[0][a->of->kernel[k]], a->time += seconds[1][a->of->kernel[k]];
        }
    }
}

/* Of one attempt, from which other kernels may follow */
static void take_sum(const tuner *t, const cJSON *plan, double *const seconds[2], attempt *a)
{
    double sum[2];
    changes_compare(t, plan, seconds, sum, NULL);
    a->base = sum[0], a->time = sum[1], a->status = sum[1] > 0 ? "correct" : "refused";
    if (!(sum[1] > 0))
        snprintf(a->why, SAID, "no kernel is another one");
}

static bool all_loops(int n, const attempt *of)
{
    while (n && js_get(of[n - 1].change, "loops"))
        n--;
    return !n;
}

static bool in_halves(tuner *t, int n, attempt *of, ts_error *e)
{
    return trial_run(t, n / 2, of, e) && trial_run(t, n - n / 2, of + n / 2, e);
}

bool trial_run(tuner *t, int n, attempt *of, ts_error *e)
{
    if (n > 1 && !all_loops(n, of))
        return in_halves(t, n, of, e);
    double *seconds[2];
    char *schema = schema_of(t, n, of), why[SAID];
    cJSON *plan = NULL;
    err own = {0};
    bool ok = trial_by(t, schema, seconds, &plan, why, &own);
    const bool same = ok && all_loops(n, of) && same_kernels(t, plan);
    t->trials++;
    if (same)
        take_times(plan, seconds, n, of);
    else if (ok && n == 1)
        take_sum(t, plan, seconds, of);
    else if (n == 1) {
        of->status = *why && plan ? "wrong" : "refused";
        snprintf(of->why, SAID, "%s", *why ? why : own.text);
    }
    free(schema), free(seconds[0]), free(seconds[1]), cJSON_Delete(plan);
    if (own.code == TS_INTERRUPTED)
        return *e = own, false;
    return same || n == 1 ? log_add(t, n, of, e) : in_halves(t, n, of, e);
}
