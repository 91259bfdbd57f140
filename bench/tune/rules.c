/* rules.c - what a search found, as few rules: each has a change that was quicker for several families of one
 * operation, over ranges of extents in which nothing is that was slower, or not tried, with them. */
#include "bench/tune/parts.h"
#include "graph/base/base.h"
#include "graph/base/formats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double quicker = 0.985,      /* time with the change over time without: less is taken for an improvement */
    no_slower = 1.01, least_share = 2e-3; /* of a pass, that a rule has to save */

typedef struct box { /* ranges by axis of the first family */
    int n;
    const char *axis[TS_MAX_RANK * 2];
    double low[TS_MAX_RANK * 2], high[TS_MAX_RANK * 2];
} box;

static double ratio_of(const tuner *t, const family *f, const cJSON *change)
{
    return log_ratio(log_find(t, f->key, change));
}

static bool same_kind(const family *a, const family *b)
{
    return !strcmp(js_get_text(a->first, "op"), js_get_text(b->first, "op")) &&
           !strcmp(js_get_text(a->first, "dtype"), js_get_text(b->first, "dtype"));
}

static void widen(box *b, const family *f) /* b->n 0: it is that family */
{
    const cJSON *d;
    if (!b->n)
        cJSON_ArrayForEach(d, js_get(f->first, "dims")) if (b->n < COUNT(b->axis))
            b->axis[b->n] = d->string,
            b->low[b->n] = b->high[b->n] = d->valuedouble, b->n++;
    for (int a = 0; a < b->n; a++) {
        const double extent = js_get_number(js_get(f->first, "dims"), b->axis[a], 1);
        b->low[a] = fmin(b->low[a], extent), b->high[a] = fmax(b->high[a], extent);
    }
}

static bool holds(const box *b, const family *f)
{
    bool inside = true;
    for (int a = 0; a < b->n && inside; a++) {
        const double extent = js_get_number(js_get(f->first, "dims"), b->axis[a], 1);
        inside = extent >= b->low[a] && extent <= b->high[a];
    }
    return inside;
}

/* Nothing in it is slower with the loops, but for what an earlier rule has */
static bool is_clean(const tuner *t, const box *b, const family *kind, const cJSON *change, const bool *done)
{
    for (int i = 0; i < t->n_family; i++) {
        const family *f = &t->family[i];
        if (!done[i] && same_kind(f, kind) && holds(b, f) && ratio_of(t, f, change) > no_slower)
            return false;
    }
    return true;
}

/* To powers of two around, axis by axis, where that takes in nothing new: what is found at 384 is for 256 to 512. */
static void round_out(const tuner *t, box *b, const family *kind, const cJSON *change, const bool *done)
{
    for (int a = 0; a < b->n; a++) {
        box wide = *b;
        wide.low[a] = exp2(floor(log2(b->low[a]))), wide.high[a] = exp2(ceil(log2(b->high[a])));
        if (is_clean(t, &wide, kind, change, done))
            *b = wide;
    }
}

typedef struct found {
    const cJSON *change;
    const family *kind;
    box box;
    double saved;
} found;

/* From one family on, further ones that its ranges can take in */
static found grow(const tuner *t, const family *from, const cJSON *change, const bool *done)
{
    found r = {.change = change, .kind = from};
    widen(&r.box, from);
    if (!is_clean(t, &r.box, from, change, done))
        return r;
    for (int i = 0; i < t->n_family; i++) {
        box more = r.box;
        widen(&more, &t->family[i]);
        if (!done[i] && same_kind(from, &t->family[i]) && ratio_of(t, &t->family[i], change) < quicker &&
            is_clean(t, &more, from, change, done))
            r.box = more;
    }
    round_out(t, &r.box, from, change, done);
    for (int i = 0; i < t->n_family; i++)
        if (!done[i] && same_kind(from, &t->family[i]) && holds(&r.box, &t->family[i]))
            r.saved += log_saved(log_find(t, t->family[i].key, change));
    return r;
}

static found best(const tuner *t, const bool *done)
{
    found top = {0};
    const cJSON *one;
    for (int i = 0; i < t->n_family; i++)
        cJSON_ArrayForEach(one, t->log)
        {
            const cJSON *change = js_get(one, "change");
            if (done[i] || strcmp(js_get_text(one, "kernel"), t->family[i].key) != 0 ||
                ratio_of(t, &t->family[i], change) >= quicker)
                continue;
            const found r = grow(t, &t->family[i], change, done);
            if (r.saved > top.saved)
                top = r;
        }
    return top;
}

static void put_rule(cJSON *list, const found *r)
{
    ENDED_BY(text_free) text name = {0};
    cJSON *rule = js_row(list, "saved_ns:%g", r->saved * 1e9), *match = js_object(rule, "match"), *dims = NULL;
    char *does = changes_text(r->change);
    js_text(rule, "does", does), free(does);
    cJSON_AddItemToObject(rule, "change", cJSON_Duplicate(r->change, true));
    js_put(match, "op:%s", js_get_text(r->kind->first, "op"));
    if (!r->kind->all)
        js_put(match, "dtype:%s", js_get_text(r->kind->first, "dtype")), dims = js_object(match, "dims");
    text_add(&name, "%s", js_get_text(r->kind->first, "op"));
    for (int a = 0; a < r->box.n; a++) {
        char range[64];
        if (r->box.low[a] < r->box.high[a])
            snprintf(range, sizeof range, "%.0f..%.0f", r->box.low[a], r->box.high[a]);
        else
            snprintf(range, sizeof range, "%.0f", r->box.low[a]);
        js_text(dims, r->box.axis[a], range);
        text_add(&name, " %s=%s", r->box.axis[a], range);
    }
    js_text(rule, "name", text_str(&name));
}

cJSON *rules_find(const tuner *t)
{
    cJSON *list = cJSON_CreateArray();
    ENDED_BY(heap_free) bool *done = heap_array((size_t)t->n_family + 1, sizeof *done);
    for (int n = 0; n < MOST_RULES; n++) {
        const found r = best(t, done);
        if (r.saved < least_share * t->total)
            break;
        put_rule(list, &r);
        for (int i = 0; i < t->n_family; i++)
            done[i] = done[i] || (same_kind(r.kind, &t->family[i]) && holds(&r.box, &t->family[i]));
    }
    return list;
}

char *rules_text(const tuner *t, const cJSON *rules)
{
    const cJSON *r, *c;
    cJSON *out = js_put(cJSON_CreateObject(), "format:%s,name:%s,target:%s,extends:%s", FORMAT_TILING, "tuned",
                        js_get_text(t->json, "target"), t->o->base),
          *list = js_array(out, "rules");
    for (int pass = 0; pass < 2; pass++) /* what is for all of an operation would decide the loops of each */
        cJSON_ArrayForEach(r, rules) if (pass == !js_get(r, "match/dims"))
        {
            cJSON *one = js_row(list, "name:%s", js_get_text(r, "name"));
            cJSON_AddItemToObject(one, "match", cJSON_Duplicate(js_get(r, "match"), true));
            cJSON_ArrayForEach(c, js_get(r, "change")) cJSON_AddItemToObject(one, c->string, cJSON_Duplicate(c, true));
            js_flag(one, "optional", true);
        }
    char *s = js_to_text(out, true);
    cJSON_Delete(out);
    return s;
}
