/* view.c - a report as data for the texts of its page: names, figures and what follows from them. */
#include "bench/report/page.h"
#include "graph/base/err.h"
#include "graph/base/formats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void add(cJSON *o, const char *key, cJSON *v)
{
    if (!v)
        memory_failed(0, "a report");
    if (key)
        cJSON_AddItemToObject(o, key, v);
    else
        cJSON_AddItemToArray(o, v);
}

void view_text(cJSON *o, const char *key, const char *s)
{
    add(o, key, cJSON_CreateStringReference(s));
}

void view_who(cJSON *o, const char *key, const report *r, int c, const char *s)
{
    cJSON *who = js_object(o, key);
    view_text(who, "name", c < 0 ? s : r->of[c].name);
    if (c >= 0)
        view_text(who, "mark", r->of[c].mark), view_text(who, "class", mark_class(r, c)), js_number(who, "index", c);
}

void view_some(cJSON *o, const char *key, const cJSON *list, int most, bool of_texts)
{
    cJSON *some = js_array(o, key);
    const cJSON *v;
    if (!cJSON_IsArray(list))
        return;
    cJSON_ArrayForEach(v, list)
    {
        if ((of_texts ? !cJSON_IsString(v) : !cJSON_IsObject(v)) || most-- <= 0)
            continue;
        if (of_texts)
            view_text(some, NULL, v->valuestring);
        else
            add(some, NULL, cJSON_CreateObjectReference(v->child));
    }
}

void view_ref(cJSON *o, const char *key, const cJSON *object)
{
    if (cJSON_IsObject(object) && object->child)
        add(o, key, cJSON_CreateObjectReference(object->child));
}

/* What is known of model and machine: texts, and numbers of something */
static void view_facts(cJSON *list, const cJSON *object, const char *key)
{
    const cJSON *v = js_get(object, key), *item;
    if (cJSON_IsNumber(v)) {
        char of[32];
        snprintf(of, sizeof of, "%.*s", (int)strlen(key) - (v->valuedouble == 1), key); /* "1 thread" */
        js_row(list, "count:%g,of:%s", v->valuedouble, of);
    } else if (cJSON_IsString(v) && *v->valuestring)
        view_text(js_object(list, NULL), "text", v->valuestring);
    cJSON_ArrayForEach(item, v)
    {
        if (cJSON_IsString(item))
            view_text(js_object(list, NULL), "text", item->valuestring);
    }
}

/* What a schema says and what ran are two things where its loops were refused. */
static void view_guessed(cJSON *o, const contestant *c)
{
    const kernel *first = NULL;
    bool others = false;
    for (int i = 0; i < c->n_kernel; i++)
        if (c->kernels[i].guessed) {
            first = first ? first : &c->kernels[i];
            others |= strcmp(first->rule, c->kernels[i].rule) != 0;
        }
    if (!first)
        return;
    cJSON *guessed = js_put(js_object(o, "guessed"), "n:%d,of:%d", c->n_guessed, c->n_kernel);
    if (!others)
        view_text(guessed, "rule", first->rule);
}

static void view_contestant(cJSON *list, const report *r, int i, double longest)
{
    const contestant *c = &r->of[i];
    const stats *s = &c->stats;
    cJSON *o = js_object(list, NULL);
    view_who(o, "who", r, i, NULL);
    view_text(o, "version", c->version), view_text(o, "reason", c->reason);
    view_text(o, "status", c->valid ? c->peer ? "peer" : "valid" : *c->status ? c->status : "no time");
    view_guessed(o, c);
    js_put(o, "valid:%i,peer:%i,min_ns:%g,p90_ns:%g,peak_bytes:%g,arena_bytes:%g,lower_bound_bytes:%g,over:%g",
           c->valid, c->peer, s->min, s->p90, c->peak_bytes, c->arena_bytes, c->lower_bound_bytes,
           c->arena_bytes / c->lower_bound_bytes);
    js_put(o, "median_ns:%g,times:%g,remarks:%i", s->median,
           r->best < 0 ? (double)NAN : s->median / r->of[r->best].stats.median, *c->reason || c->n_guessed);
    view_text(o, "stated", *c->status ? c->status : c->valid ? "VALID" : "");
    js_put(o, "n:%g,launches:%g,flagged:%g,kernels_ns:%g,max_abs:%g,max_rel:%g", s->n,
           c->n_launch ? c->n_launch : (double)NAN, c->n_sample ? c->n_flagged : (double)NAN, c->kernel_ns, c->max_abs,
           c->max_rel);
    if (s->median > 0)
        js_number(o, "bar", 100 * s->median / longest);
    if (s->high > 0 && s->low > 0)
        js_number(o, "around_share", fmax(s->high - s->median, s->median - s->low) / s->median);
    js_flag(o, "sized", !isnan(c->peak_bytes) || !isnan(c->arena_bytes));
}

void view_pairing(cJSON *o, const report *r, const pairing *c)
{
    const outcome is = outcome_read(c->word);
    const double confidence = result_number(r->config, "confidence");
    view_who(o, "a", r, c->ia, c->a), view_who(o, "b", r, c->ib, c->b);
    js_put(o, "word:%s,ratio:%g,low:%g,high:%g,threshold_share:%g,interval:%i", outcome_name(is), c->ratio, c->low,
           c->high, c->threshold, !isnan(c->low) && !isnan(c->high));
    view_text(o, "verdict", c->word);
    js_number(o, "sure_share", confidence > 0 && confidence < 1 ? confidence : 0.99);
    if (!isnan(c->detectable))
        js_number(o, "detectable_share", c->detectable);
    if (is != FASTER && is != SLOWER)
        return;
    const bool first = is == FASTER;
    const double times = first ? c->ratio : 1 / c->ratio; /* how much longer the slower one takes */
    view_who(o, "win", r, first ? c->ia : c->ib, first ? c->a : c->b);
    view_who(o, "lose", r, first ? c->ib : c->ia, first ? c->b : c->a);
    if (times >= 2) {
        char s[32];
        snprintf(s, sizeof s, "%.*f", times < 9.95 ? 2 : 1, times);
        js_text(js_object(o, "factor"), "times", s);
    } else if (times > 1) {
        js_number(o, "more_share", times - 1);
    }
}

cJSON *view_make(const report *r)
{
    cJSON *o = cJSON_CreateObject(), *facts = js_array(o, "facts"), *all = js_array(o, "contestants");
    const cJSON *model = js_get(r->root, "model");
    double longest = 0;
    view_text(o, "model", report_model(r));
    view_text(o, "source", report_source(r));
    view_text(o, "by", r->groups.by ? r->groups.by : "");
    view_text(o, "state", js_get_text(r->root, "machine_state/state"));
    view_text(o, "busy", js_get_text(r->root, "machine_state/why")); /* why the machine was not quiet; "" if it was */
    view_facts(facts, model, "dims"), view_facts(facts, model, "dtype");
    view_facts(facts, r->environment, "cpu"), view_facts(facts, r->environment, "threads");
    view_facts(facts, r->environment, "isa");
    js_put(o, "tessera:%s,step:%i,left:%d,decided:%i", TS_VERSION, !strcmp(js_get_text(r->root, "format"), FORMAT_STEP),
           r->n_left, verdict_decided(r));
    for (int i = 0; i < r->n; i++)
        longest = fmax(longest, r->of[i].stats.median);
    for (int i = 0; i < r->n; i++)
        view_contestant(all, r, i, longest);
    if (r->best >= 0)
        view_who(o, "best", r, r->best, NULL);
    if (r->fast >= 0)
        view_who(o, "fast", r, r->fast, NULL), view_who(o, "slow", r, r->slow, NULL);
    if (r->match)
        view_pairing(js_object(o, "match"), r, r->match);
    return o;
}
