/* changes.c - what else than loops a rule can say of a kernel: the order in which its values lie, whether it comes
 * apart into its operations, whether it is done by an algebraic alternative or in blocks. Each is planned; what
 * changes no kernel is none, and the others go by what the plans are predicted to take. And what kernels two plans
 * have apart from one another: those stand for the same nodes of the model, since all others do the same. */
#include "bench/tune/parts.h"
#include "graph/base/base.h"
#include "graph/base/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- kernels that only one of two plans has ---- */
/* What a kernel does, and how */
static char *print_of(const cJSON *kernel)
{
    static const char *const keys[] = {"op", "label", "dtype", "dims", "loops", "derived", "operands", "stages"};
    ENDED_BY(js_free) cJSON *o = cJSON_CreateObject();
    for (int i = 0; i < COUNT(keys); i++)
        cJSON_AddItemToObject(o, keys[i], cJSON_Duplicate(js_get(kernel, keys[i]), true));
    return js_to_text(o, false);
}

typedef struct prints {
    int n;
    char **of; /* NULL: the other plan has it, too */
} prints;

static prints prints_of(const cJSON *plan)
{
    const cJSON *kernel, *all = js_get(plan, "kernels");
    prints p = {.of = heap_array((size_t)cJSON_GetArraySize(all) + 1, sizeof *p.of)};
    cJSON_ArrayForEach(kernel, all) p.of[p.n++] = print_of(kernel);
    return p;
}

static double sum_of(const prints *p, const double *seconds)
{
    double sum = 0;
    for (int i = 0; i < p->n; i++)
        sum += p->of[i] ? seconds[i] : 0;
    return sum;
}

static void prints_free(prints *p)
{
    for (int i = 0; i < p->n; i++)
        free(p->of[i]);
    free(p->of);
}

void changes_sum(const tuner *t, const cJSON *plan, double *const seconds[2], double sum[2])
{
    prints base = prints_of(t->json), trial = prints_of(plan);
    for (int i = 0; i < base.n; i++)
        for (int j = 0; j < trial.n && base.of[i]; j++)
            if (trial.of[j] && !strcmp(base.of[i], trial.of[j])) {
                free(base.of[i]), free(trial.of[j]);
                base.of[i] = trial.of[j] = NULL;
            }
    sum[0] = sum_of(&base, seconds[0]), sum[1] = sum_of(&trial, seconds[1]);
    prints_free(&base), prints_free(&trial);
}

static double *predictions_of(const cJSON *plan)
{
    const cJSON *kernel, *all = js_get(plan, "kernels");
    double *seconds = heap_array((size_t)cJSON_GetArraySize(all) + 1, sizeof *seconds);
    int n = 0;
    cJSON_ArrayForEach(kernel, all) seconds[n++] = js_get_number(kernel, "predicted/time_ns", 1) * 1e-9;
    return seconds;
}

/* ---- what could be changed ---- */
char *changes_text(const cJSON *change)
{
    text t = {0};
    if (!change || !js_get(change, "loops"))
        return change ? js_to_text(change, false) : NULL;
    text_add(&t, "%s", js_get_text(change, "loops"));
    return text_take(&t);
}

static cJSON *add(family *f)
{
    if (!f->others)
        f->others = cJSON_CreateArray();
    return js_object(js_object(f->others, NULL), "change");
}

/* Orders of an operand: its last axis in blocks of a vector, outside or in place; whole, the last axis first. */
static void add_layouts(family *f, const cJSON *operand, int lanes)
{
    enum { MOST = 8, BYTES = 128 };
    char axes[BYTES], form[3][BYTES] = {""};
    const char *axis[MOST], *now = js_get_text(operand, "layout");
    int n = 0;
    snprintf(axes, sizeof axes, "%s", now);
    for (char *rest, *a = strtok_r(axes, " ", &rest); a && n < MOST; a = strtok_r(NULL, " ", &rest))
        if (!strchr(a, '/'))
            axis[n++] = a;
    if (n < 2 || n == MOST)
        return;
    for (int a = 0; a < n; a++) {
        const char *gap = a ? " " : "", *last = axis[n - 1];
        size_t at[3] = {strlen(form[0]), strlen(form[1]), strlen(form[2])};
        snprintf(form[0] + at[0], BYTES - at[0], "%s%s", gap, axis[a]);
        if (!a)
            at[1] += (size_t)snprintf(form[1], BYTES, "%s/%d ", last, lanes);
        snprintf(form[1] + at[1], BYTES - at[1], "%s%s", gap, axis[a]);
        snprintf(form[2] + at[2], BYTES - at[2], "%s%s", gap, a ? axis[a - 1] : last);
    }
    for (int i = 0; i < COUNT(form); i++)
        if (strcmp(form[i], now) != 0)
            js_text(js_object(add(f), "layout"), js_get_text(operand, "operand"), form[i]);
}

/* A rule without loops would hand kernels to the guess that a rule has loops for: another's loops, no change. */
static bool has_rule(const tuner *t, const family *f)
{
    const cJSON *all = js_get(t->json, "kernels");
    bool has = false;
    for (int k = 0; k < f->n; k++)
        has = has || strcmp(js_get_text(cJSON_GetArrayItem(all, f->kernel[k]), "rule"), "guess") != 0;
    return has;
}

void changes_find(const tuner *t, family *f)
{
    static const int sizes[] = {0, 64, 128, 256};
    const cJSON *operand;
    const bool stages = js_get(f->first, "stages") != NULL, folds = js_get(f->first, "tile/sums_of") != NULL;
    if (has_rule(t, f))
        return;
    if (f->all) {
        js_flag(add(f), "alternative", false);
        for (int i = 0; i < COUNT(sizes) && stages; i++)
            js_number(add(f), "blocks", sizes[i]);
        return;
    }
    if (folds && !stages)
        js_flag(add(f), "alternative", true);
    js_text(add(f), "fuse", "none");
    cJSON_ArrayForEach(operand, js_get(f->first, "operands")) if (folds)
        add_layouts(f, operand, (int)js_get_number(f->first, "tile/lanes_of", 8));
}

/* Plans it; false: it cannot be, or nothing changes. */
static bool foresee(tuner *t, family *f, cJSON *one)
{
    const attempt a = {.of = f, .change = js_get(one, "change")};
    ts_error e = {0};
    double sum[2] = {0};
    cJSON *json = NULL;
    ts_plan *p = trial_plan(t, 1, &a, &json, &e);
    if (json) {
        double *seconds[] = {predictions_of(t->json), predictions_of(json)};
        changes_sum(t, json, seconds, sum);
        free(seconds[0]), free(seconds[1]);
    }
    cJSON_Delete(json), ts_plan_free(p);
    js_put(one, "predicted_ns:%g,gain:%g", sum[1] * 1e9, sum[1] > 0 ? (sum[0] / sum[1] - 1) * f->seconds : 0);
    return sum[1] > 0;
}

bool changes_next(tuner *t, attempt *of)
{
    const cJSON *one;
    double most = -INFINITY;
    for (int i = 0; i < t->n_family; i++)
        cJSON_ArrayForEach(one, t->family[i].others) if (js_get_number(one, "gain", 0) > most &&
                                                         !log_find(t, t->family[i].key, js_get(one, "change")))
            most = js_get_number(one, "gain", 0),
            *of = (attempt){.of = &t->family[i],
                            .change = js_get(one, "change"),
                            .predicted = js_get_number(one, "predicted_ns", 0) * 1e-9};
    return most > -INFINITY;
}

void changes_foresee(tuner *t, double until)
{
    for (int i = 0; i < t->n_family; i++) {
        family *f = &t->family[i];
        for (cJSON *one = f->others ? f->others->child : NULL, *next; one; one = next) {
            next = one->next;
            if (seconds_now() >= until || !foresee(t, f, one))
                cJSON_Delete(cJSON_DetachItemViaPointer(f->others, one));
        }
    }
}
