/* changes.c - what else than loops a rule can say of a kernel: the order in which its values lie, whether it comes
 * apart into its operations, whether it is done by an algebraic alternative or in blocks. Each is planned; what makes
 * no other kernels, or those of another change, is none; the rest goes by predicted time. And the kernels that two
 * plans have apart: those stand for the same nodes of the model, since all others do the same. */
#include "bench/tune/parts.h"
#include "graph/base/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- kernels that only one of two plans has ---- */
/* What each does, and how, as text, with its seconds; NULL: as predicted */
static cJSON *prints_of(const cJSON *plan, const double *seconds)
{
    static const char *const keys[] = {"op", "label", "dtype", "dims", "loops", "derived", "operands", "stages"};
    const cJSON *kernel;
    cJSON *list = cJSON_CreateArray();
    cJSON_ArrayForEach(kernel, js_get(plan, "kernels"))
    {
        ENDED_BY(js_free) cJSON *o = cJSON_CreateObject();
        for (int i = 0; i < COUNT(keys); i++)
            cJSON_AddItemToObject(o, keys[i], cJSON_Duplicate(js_get(kernel, keys[i]), true));
        ENDED_BY(heap_free) char *print = js_to_text(o, false);
        js_row(list, "print:%s,seconds:%g", print,
               seconds ? *seconds++ : js_get_number(kernel, "predicted/time_ns", 1) * 1e-9);
    }
    return list;
}

void changes_compare(const tuner *t, const cJSON *plan, double *const seconds[2], double sum[2], text *made)
{
    ENDED_BY(js_free) cJSON *base = prints_of(t->json, seconds[0]), *trial = prints_of(plan, seconds[1]);
    sum[0] = sum[1] = 0;
    for (cJSON *x = base->child, *y; x; x = x->next) {
        for (y = trial->child; y && strcmp(js_get_text(x, "print"), js_get_text(y, "print")) != 0;)
            y = y->next;
        sum[0] += y ? 0 : js_get_number(x, "seconds", 0);
        cJSON_Delete(y ? cJSON_DetachItemViaPointer(trial, y) : NULL);
    }
    for (const cJSON *y = trial->child; y; y = y->next) {
        sum[1] += js_get_number(y, "seconds", 0);
        if (made)
            text_add(made, "%s\n", js_get_text(y, "print"));
    }
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
    for (int k = 0; k < f->n; k++)
        if (strcmp(js_get_text(cJSON_GetArrayItem(js_get(t->json, "kernels"), f->kernel[k]), "rule"), "guess") != 0)
            return true;
    return false;
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

static bool is_made(const tuner *t, const char *made)
{
    const cJSON *one;
    for (int i = 0; i < t->n_family; i++)
        cJSON_ArrayForEach(one, t->family[i].others) if (!strcmp(js_get_text(one, "made"), made)) return true;
    return false;
}

/* Plans it; false: it cannot be, nothing changes, or another change makes the same. */
static bool foresee(tuner *t, family *f, cJSON *one)
{
    const attempt a = {.of = f, .change = js_get(one, "change")};
    ts_error e = {0};
    double *const predicted[2] = {NULL};
    double sum[2] = {0};
    ENDED_BY(js_free) cJSON *json = NULL;
    ENDED_BY(text_free) text made = {0};
    ts_plan_free(trial_plan(t, 1, &a, &json, &e));
    if (json)
        changes_compare(t, json, predicted, sum, &made);
    const bool is_new = sum[1] > 0 && !is_made(t, text_str(&made));
    if (is_new)
        js_put(one, "predicted_ns:%g,gain:%g,made:%s", sum[1] * 1e9, (sum[0] / sum[1] - 1) * f->seconds,
               text_str(&made));
    return is_new;
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
