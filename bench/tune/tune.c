/* tune.c - a search: kernels that are alike, rounds of trials for the budget's time, and the rules that are left. */
#include "bench/tune/parts.h"
#include "graph/base/base.h"
#include "graph/base/clock.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BASE_RUNS = 5 };
static const double least_share = 3e-3; /* of a pass: kernels that take less are left as they are */

/* ---- what there is ---- */
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
    t->n_output = ts_model_outputs(t->model);
    t->output = heap_array((size_t)t->n_output + 1, sizeof *t->output);
    bool ok = trial_base(t, e) && ts_plan_build(t->base, e) && trial_inputs(t, t->base, e) && ts_plan_run(t->base, e);
    for (int i = 0; ok && i < t->n_output; i++)
        ok = ts_plan_get(t->base, i, &t->output[i], e);
    return ok;
}

/* Families by time; nests of those that matter */
static bool find_families(tuner *t, ts_error *e)
{
    double *seconds = heap_array((size_t)t->n_kernel + 1, sizeof *seconds), *both[] = {seconds, seconds};
    const int n[] = {t->n_kernel, t->n_kernel};
    bool ok = t->o->time ? t->o->time(t->o->user, t->base, t->base, n, both, e)
                         : ts_plan_profile(t->base, BASE_RUNS, seconds, t->n_kernel, e);
    cJSON *nest;
    int wanted = 0;
    trial_usual(t, seconds);
    families_find(t, seconds);
    free(seconds);
    for (int i = 0; ok && i < t->n_family; i++) {
        family *f = &t->family[i];
        if (!is_wanted(t->o, cJSON_GetArrayItem(js_get(t->json, "kernels"), f->kernel[0])))
            continue;
        wanted++;
        if (f->seconds < least_share * t->total)
            continue;
        if (!t->o->seed)
            changes_find(t, f);
        if (f->all)
            continue;
        char *nests = ts_plan_nests(t->base, f->kernel[0], t->o->most, t->o->seed, e);
        f->nests = nests ? js_parse(nests, "loops", e) : NULL;
        free(nests);
        ok = f->nests != NULL;
        cJSON_ArrayForEach(nest, f->nests) js_text(js_object(nest, "change"), "loops", js_get_text(nest, "loops"));
        f->next = ok ? f->nests->child : NULL;
        f->tuned = f->next != NULL;
    }
    if (ok && !wanted) {
        const char *op = t->o->op ? t->o->op : "*", *rule = t->o->rule;
        err_set(e, TS_USAGE,
                rule ? "no kernel of the operation or name '%s' is decided by a rule '%s'"
                     : "no kernel is of the operation or name '%s'",
                op, rule);
        return err_hint(e, "tessera explain MODEL shows the kernels, their names and rules");
    }
    return ok;
}

/* ---- rounds ---- */
/* The next loops of each family that no trial has had yet; how many. */
static int next_of(tuner *t, attempt *of)
{
    int n = 0;
    for (int i = 0; i < t->n_family; i++) {
        family *f = &t->family[i];
        while (f->next && log_find(t, f->key, js_get(f->next, "change")))
            f->next = f->next->next;
        if (!f->next)
            continue;
        of[n++] = (attempt){.of = f,
                            .change = js_get(f->next, "change"),
                            .predicted = js_get_number(f->next, "predicted_ns", 0) * 1e-9 * f->n};
        f->next = f->next->next;
    }
    return n;
}

/* What is best for others of the operation, so that one rule may serve several: the next that f has not had. */
static const cJSON *of_others(const tuner *t, const family *f)
{
    for (int i = 0; i < t->n_family; i++) {
        int tried, right;
        const family *g = &t->family[i];
        const bool of_one = g != f && g->tuned && !strcmp(js_get_text(f->first, "op"), js_get_text(g->first, "op"));
        const cJSON *best = of_one ? log_best(t, g->key, &tried, &right) : NULL, *change = js_get(best, "change");
        if (log_saved(best) > 0 && !log_find(t, f->key, change))
            return change;
    }
    return NULL;
}

static int shared_of(tuner *t, attempt *of)
{
    int n = 0;
    for (int i = 0; i < t->n_family; i++) {
        const cJSON *change = t->family[i].tuned ? of_others(t, &t->family[i]) : NULL;
        if (change)
            of[n++] = (attempt){.of = &t->family[i], .change = change};
    }
    return n;
}

/* Loops and one other change in turns, until there are none, or the time is over: in the last fifth of it, what is best
 * for one is tried for others. */
static bool search(tuner *t, double begun, ts_error *e)
{
    changes_foresee(t, seconds_now() + t->o->budget * 0.15);
    ENDED_BY(heap_free) attempt *of = heap_array((size_t)t->n_family + 1, sizeof *of);
    bool ok = true;
    for (int pass = 0; pass < 2; pass++)
        for (int n; ok && seconds_now() < begun + t->o->budget * (pass ? 1 : 0.8);) {
            attempt other;
            const bool more = !pass && changes_next(t, &other);
            n = pass ? shared_of(t, of) : next_of(t, of);
            if (!n && !more)
                break;
            if (t->o->progress)
                t->o->progress(t->o->user, "trying rules", t->trials, 0);
            ok = (!n || trial_run(t, n, of, e)) && (!more || trial_run(t, 1, &other, e));
        }
    return ok;
}

/* ---- what is left ---- */
/* One plan with these rules; what is saved by it, of a pass of the base and one of its own. */
static double saved_by(tuner *t, const char *schema, double pass[2], char said[SAID], ts_error *e)
{
    double *seconds[2], sum[2] = {0};
    cJSON *plan = NULL;
    if (trial_by(t, schema, seconds, &plan, said, e)) {
        const int n[] = {t->n_kernel, cJSON_GetArraySize(js_get(plan, "kernels"))};
        changes_compare(t, plan, seconds, sum, NULL);
        for (int i = 0; i < 2; i++)
            for (int k = 0; k < n[i]; k++)
                pass[i] = (k ? pass[i] : 0) + seconds[i][k];
    }
    free(seconds[0]), free(seconds[1]), cJSON_Delete(plan);
    return sum[0] - sum[1];
}

/* Rule by rule, with those before it: what saves no more with it is left out. *found: the schema of what is left, or
 * NULL. */
static bool settle(tuner *t, cJSON *report, char **found, ts_error *e)
{
    cJSON *all = rules_find(t), *rules = js_array(report, "rules"), *r;
    const char *why = all->child ? "the rules together are no quicker"
                                 : "no rules were quicker than those that there are";
    char said[SAID] = "";
    double most = 0, pass[2], best[2] = {0};
    err own = {0};
    while (own.code != TS_INTERRUPTED && (r = cJSON_DetachItemFromArray(all, 0))) {
        own = (err){0};
        cJSON_AddItemToArray(rules, r);
        char *schema = rules_text(t, rules);
        const double saved = saved_by(t, schema, pass, said, &own);
        if (saved > most)
            most = saved, free(*found), *found = schema, memcpy(best, pass, sizeof best);
        else
            cJSON_Delete(cJSON_DetachItemViaPointer(rules, r)), free(schema);
    }
    if (*found)
        js_put(report, "base_ns:%g,tuned_ns:%g", best[0] * 1e9, best[1] * 1e9);
    js_text(report, "why", *found ? NULL : *said ? said : own.code ? own.text : why);
    cJSON_Delete(all);
    return own.code == TS_INTERRUPTED ? *e = own, false : true;
}

static void tell(const tuner *t, cJSON *report)
{
    cJSON *list = js_array(report, "kernels");
    for (int i = 0; i < t->n_family; i++) {
        const family *f = &t->family[i];
        int tried, right;
        const cJSON *best = log_best(t, f->key, &tried, &right);
        if (!f->tuned && !tried)
            continue;
        const double share = fmin(log_ratio(best), 1);
        ENDED_BY(heap_free) char *said = changes_text(share < 1 ? js_get(best, "change") : NULL);
        js_row(list,
               "kernel:%s,label:%s,kernels:%d,loops:%s,base_ns:%g,predicted_ns:%g,best:%s,best_ns:%g,tried:%d,"
               "correct:%d,rank:%g",
               f->key, js_get_text(f->first, "label"), f->n, js_get_text(f->first, "loops"), f->seconds * 1e9,
               js_get_number(f->first, "predicted/time_ns", NAN) * f->n, said, f->seconds * share * 1e9, tried, right,
               family_rank(t, f));
    }
    js_put(report, "trials:%d", t->trials);
}

static void close_all(tuner *t)
{
    families_free(t);
    for (int i = 0; t->output && i < t->n_output; i++)
        ts_array_free(&t->output[i]);
    if (t->fd >= 0)
        close(t->fd);
    ts_plan_free(t->base);
    cJSON_Delete(t->json), cJSON_Delete(t->log), free(t->output), free(t->seen);
}

cJSON *tune_run(ts_model *m, const ts_array *value, const ts_options *plan, const tune_options *o, char **found,
                ts_error *e)
{
    tuner t = {.model = m, .value = value, .plan = *plan, .o = o, .fd = -1};
    cJSON *report = js_put(cJSON_CreateObject(), "format:%s", "tune/1");
    const double begun = seconds_now();
    *found = NULL;
    bool ok = open_base(&t, e) && find_families(&t, e) && log_open(&t, e) && search(&t, begun, e);
    if (ok)
        js_put(report, "target:%s,isa:%s,threads:%d,schema:%s", js_get_text(t.json, "target"),
               js_get_text(t.json, "isa"), (int)js_get_number(t.json, "threads", 0), o->schema);
    ok = ok && settle(&t, report, found, e);
    if (ok)
        tell(&t, report);
    close_all(&t);
    if (ok)
        return report;
    cJSON_Delete(report);
    return NULL;
}
