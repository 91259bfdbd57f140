/* tune.c - a search: kernels that are alike, rounds of trials for the budget's time, and the rules that are left. */
#include "bench/tune/parts.h"
#include "graph/base/base.h"
#include "graph/base/clock.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BASE_RUNS = 5 };
static const double least_share = 3e-3; /* of a pass: kernels that take less are left as they are */

/* ---- kernels that are alike ---- */
/* Of several stages these too: loops go by their names. */
static char *key_of(const cJSON *kernel)
{
    const cJSON *d, *stage;
    text s = {0};
    text_add(&s, "%s %s", js_get_text(kernel, "op"), js_get_text(kernel, "dtype"));
    cJSON_ArrayForEach(d, js_get(kernel, "dims")) text_add(&s, " %s=%.0f", d->string, d->valuedouble);
    cJSON_ArrayForEach(stage, js_get(kernel, "stages")) text_add(&s, " %s", js_get_text(stage, "name"));
    return text_take(&s);
}

static void add_kernel(tuner *t, const cJSON *kernel, int number, double seconds)
{
    char *key = key_of(kernel);
    int i = 0;
    while (i < t->n_family && strcmp(t->family[i].key, key) != 0)
        i++;
    family *f = &t->family[i];
    if (i < t->n_family)
        free(key);
    else
        t->n_family++, f->key = key, f->first = kernel, f->kernel = heap_array((size_t)t->n_kernel, sizeof *f->kernel);
    f->kernel[f->n++] = number, f->seconds += seconds;
}

static int by_time(const void *a, const void *b)
{
    const family *x = a, *y = b;
    return x->seconds < y->seconds ? 1 : x->seconds > y->seconds ? -1 : strcmp(x->key, y->key);
}

static bool is_wanted(const tune_options *o, const cJSON *kernel)
{
    static const char *const keys[] = {"label", "op", "name"};
    bool found = !o->op;
    for (int i = 0; !found && i < COUNT(keys); i++)
        found = fnmatch(o->op, js_get_text(kernel, keys[i]), 0) == 0;
    return found && (!o->rule || !strcmp(js_get_text(kernel, "rule"), o->rule));
}

static bool open_base(tuner *t, ts_error *e)
{
    ts_options o = t->plan;
    o.schema = t->o->schema;
    t->base = ts_plan_make(t->model, &o, e);
    char *said = t->base ? ts_plan_json(t->base, e) : NULL;
    t->json = said ? js_parse(said, "the plan", e) : NULL;
    free(said);
    if (!t->json || !ts_plan_build(t->base, e))
        return false;
    for (int i = 0; i < ts_model_inputs(t->model); i++)
        if (!ts_plan_set(t->base, i, &t->value[i], e))
            return false;
    t->n_kernel = cJSON_GetArraySize(js_get(t->json, "kernels"));
    t->n_output = ts_model_outputs(t->model);
    t->output = heap_array((size_t)t->n_output + 1, sizeof *t->output);
    bool good = ts_plan_run(t->base, e);
    for (int i = 0; good && i < t->n_output; i++)
        good = ts_plan_get(t->base, i, &t->output[i], e);
    return good;
}

/* Families by time; nests of those that matter */
static bool find_families(tuner *t, ts_error *e)
{
    double *seconds = heap_array((size_t)t->n_kernel + 1, sizeof *seconds), *both[] = {seconds, seconds};
    bool good = t->o->time ? t->o->time(t->o->user, t->base, t->base, t->n_kernel, both, e)
                           : ts_plan_profile(t->base, BASE_RUNS, seconds, t->n_kernel, e);
    const cJSON *kernel;
    int k = 0, wanted = 0;
    t->family = heap_array((size_t)t->n_kernel + 1, sizeof *t->family);
    cJSON_ArrayForEach(kernel, js_get(t->json, "kernels")) t->total += seconds[k], add_kernel(t, kernel, k, seconds[k]),
        k++;
    free(seconds);
    qsort(t->family, (size_t)t->n_family, sizeof *t->family, by_time);
    for (int i = 0; good && i < t->n_family; i++) {
        family *f = &t->family[i];
        if (!is_wanted(t->o, f->first))
            continue;
        wanted++;
        if (f->seconds < least_share * t->total)
            continue;
        char *nests = ts_plan_nests(t->base, f->kernel[0], t->o->most, t->o->seed, e);
        f->nests = nests ? js_parse(nests, "loops", e) : NULL;
        free(nests);
        good = f->nests != NULL;
        f->next = good ? f->nests->child : NULL;
        f->tuned = f->next != NULL;
    }
    if (good && !wanted) {
        const char *op = t->o->op ? t->o->op : "*", *rule = t->o->rule;
        err_set(e, TS_USAGE,
                rule ? "no kernel of the operation or name '%s' is decided by a rule '%s'"
                     : "no kernel is of the operation or name '%s'",
                op, rule);
        return err_hint(e, "tessera explain MODEL shows the kernels, their names and rules");
    }
    return good;
}

/* ---- rounds ---- */
/* The next loops of each family that no trial has had yet; how many. */
static int next_of(tuner *t, attempt *of)
{
    int n = 0;
    for (int i = 0; i < t->n_family; i++) {
        family *f = &t->family[i];
        while (f->next && log_find(t, f->key, js_get_text(f->next, "loops")))
            f->next = f->next->next;
        if (!f->next)
            continue;
        of[n++] = (attempt){.of = f,
                            .loops = js_get_text(f->next, "loops"),
                            .predicted = js_get_number(f->next, "predicted_ns", 0) * 1e-9 * f->n};
        f->next = f->next->next;
    }
    return n;
}

static const char *best_of(const tuner *t, const family *f, double *ratio)
{
    const cJSON *one;
    const char *loops = NULL;
    *ratio = 1;
    cJSON_ArrayForEach(one, t->log)
    {
        const double r = strcmp(js_get_text(one, "kernel"), f->key) != 0 ? 2 : log_ratio(t, one);
        if (r < *ratio)
            *ratio = r, loops = js_get_text(one, "loops");
    }
    return loops;
}

/* What is best for others of the operation, so that one rule may serve several: the next that f has not had. */
static const char *of_others(const tuner *t, const family *f)
{
    for (int i = 0; i < t->n_family; i++) {
        double ratio;
        const family *g = &t->family[i];
        const char *loops = g != f && g->tuned && !strcmp(js_get_text(f->first, "op"), js_get_text(g->first, "op"))
                                ? best_of(t, g, &ratio)
                                : NULL;
        if (loops && !log_find(t, f->key, loops))
            return loops;
    }
    return NULL;
}

static int shared_of(tuner *t, attempt *of)
{
    int n = 0;
    for (int i = 0; i < t->n_family; i++) {
        const char *loops = t->family[i].tuned ? of_others(t, &t->family[i]) : NULL;
        if (loops)
            of[n++] = (attempt){.of = &t->family[i], .loops = loops};
    }
    return n;
}

/* Until there are none, or the time is over: in the last fifth of it, what is best for one is tried for others. */
static bool search(tuner *t, double begun, ts_error *e)
{
    attempt *of = heap_array((size_t)t->n_family + 1, sizeof *of);
    bool good = true;
    for (int pass = 0; pass < 2; pass++)
        for (int n; good && seconds_now() < begun + t->o->budget * (pass ? 1 : 0.8);) {
            n = pass ? shared_of(t, of) : next_of(t, of);
            if (!n)
                break;
            if (t->o->progress)
                t->o->progress(t->o->user, "trying loops", t->trials, 0);
            good = trial_run(t, n, of, e);
        }
    free(of);
    return good;
}

/* ---- what is left ---- */
/* Takes out rules whose kernels are no quicker in that plan; whether any is. */
static bool drop_slower(cJSON *rules, const cJSON *plan, double *const seconds[2])
{
    bool any = false;
    for (cJSON *r = rules->child, *next; r; r = next) {
        const cJSON *kernel;
        double sum[2] = {0};
        int k = 0;
        cJSON_ArrayForEach(kernel, js_get(plan, "kernels"))
        {
            if (!strcmp(js_get_text(kernel, "rule"), js_get_text(r, "name")))
                sum[0] += seconds[0][k], sum[1] += seconds[1][k];
            k++;
        }
        next = r->next;
        if (sum[1] < sum[0])
            continue;
        cJSON_Delete(cJSON_DetachItemViaPointer(rules, r));
        any = true;
    }
    return any;
}

/* One plan with all rules, again without those that do not hold there; *found: the schema that is left, or NULL. */
static bool settle(tuner *t, cJSON *report, char **found, ts_error *e)
{
    cJSON *rules = rules_find(t);
    double *seconds[2], sum[2] = {0};
    const char *why = rules->child ? "the rules together are no quicker"
                                   : "no loops were quicker than those that there are";
    char said[SAID] = "";
    err own = {0};
    for (int i = 0; i < 2; i++)
        seconds[i] = heap_array((size_t)t->n_kernel + 1, sizeof *seconds[i]);
    for (bool again = true; again && rules->child && !own.code && !*said;) {
        cJSON *plan = NULL;
        char *schema = rules_text(t, rules);
        const bool good = trial_by(t, schema, seconds, &plan, said, &own);
        again = good && drop_slower(rules, plan, seconds);
        *found = good && !again ? schema : NULL;
        if (!*found)
            free(schema);
        cJSON_Delete(plan);
    }
    for (int k = 0; *found && k < t->n_kernel; k++)
        sum[0] += seconds[0][k], sum[1] += seconds[1][k];
    if (*found)
        js_put(report, "base_ns:%g,tuned_ns:%g", sum[0] * 1e9, sum[1] * 1e9);
    if (*found && sum[1] >= sum[0])
        free(*found), *found = NULL;
    js_text(report, "why", *found ? NULL : *said ? said : own.code ? own.text : why);
    cJSON_AddItemToObject(report, "rules", rules);
    free(seconds[0]), free(seconds[1]);
    return own.code == TS_INTERRUPTED ? *e = own, false : true;
}

/* Spearman's rank correlation of predicted and measured times of what was tried; NAN of fewer than five. */
static double rank_of(const tuner *t, const family *f)
{
    const int most = cJSON_GetArraySize(t->log);
    double *x = heap_array((size_t)most + 1, sizeof *x), *y = heap_array((size_t)most + 1, sizeof *y), off = 0;
    const cJSON *one;
    int n = 0;
    cJSON_ArrayForEach(one, t->log) if (!strcmp(js_get_text(one, "kernel"), f->key) &&
                                        !strcmp(js_get_text(one, "status"), "correct") &&
                                        js_get_number(one, "predicted_ns", 0) > 0)
        x[n] = js_get_number(one, "predicted_ns", 0),
        y[n] = js_get_number(one, "time_ns", 0), n++;
    for (int i = 0; i < n; i++) {
        double rank = 0; /* in one order less that in the other; equals count half */
        for (int j = 0; j < n; j++)
            rank += (x[j] < x[i]) + 0.5 * (x[j] == x[i]) - (y[j] < y[i]) - 0.5 * (y[j] == y[i]);
        off += rank * rank;
    }
    free(x), free(y);
    return n < 5 ? NAN : 1 - 6 * off / (n * ((double)n * n - 1));
}

static void tell(const tuner *t, cJSON *report)
{
    cJSON *list = js_array(report, "kernels");
    for (int i = 0; i < t->n_family; i++) {
        const family *f = &t->family[i];
        const cJSON *one;
        double ratio;
        int tried = 0, right = 0;
        if (!f->tuned)
            continue;
        cJSON_ArrayForEach(one, t->log) if (!strcmp(js_get_text(one, "kernel"), f->key)) tried++,
            right += !strcmp(js_get_text(one, "status"), "correct");
        const char *loops = best_of(t, f, &ratio);
        js_row(list,
               "kernel:%s,label:%s,kernels:%d,loops:%s,base_ns:%g,predicted_ns:%g,best:%s,best_ns:%g,tried:%d,"
               "correct:%d,rank:%g",
               f->key, js_get_text(f->first, "label"), f->n, js_get_text(f->first, "loops"), f->seconds * 1e9,
               js_get_number(f->first, "predicted/time_ns", NAN) * f->n, loops, f->seconds * ratio * 1e9, tried, right,
               rank_of(t, f));
    }
    js_put(report, "trials:%d", t->trials);
}

static void close_all(tuner *t)
{
    for (int i = 0; i < t->n_family; i++)
        free(t->family[i].key), free(t->family[i].kernel), cJSON_Delete(t->family[i].nests);
    for (int i = 0; t->output && i < t->n_output; i++)
        ts_array_free(&t->output[i]);
    if (t->fd >= 0)
        close(t->fd);
    ts_plan_free(t->base);
    cJSON_Delete(t->json), cJSON_Delete(t->log), free(t->family), free(t->output);
}

cJSON *tune_run(ts_model *m, const ts_array *value, const ts_options *plan, const tune_options *o, char **found,
                ts_error *e)
{
    tuner t = {.model = m, .value = value, .plan = *plan, .o = o, .fd = -1};
    cJSON *report = js_put(cJSON_CreateObject(), "format:%s", "tune/1");
    const double begun = seconds_now();
    *found = NULL;
    bool good = open_base(&t, e) && find_families(&t, e) && log_open(&t, e) && search(&t, begun, e);
    if (good)
        js_put(report, "target:%s,isa:%s,threads:%d,schema:%s", js_get_text(t.json, "target"),
               js_get_text(t.json, "isa"), (int)js_get_number(t.json, "threads", 0), o->schema);
    good = good && settle(&t, report, found, e);
    if (good)
        tell(&t, report);
    close_all(&t);
    if (good)
        return report;
    cJSON_Delete(report);
    return NULL;
}
