/* compare.c - two result files: what may be compared, and how what was measured after stands to what was measured
 * before. Files are measured apart, so there are no pairs: medians are resampled independently and intervals
 * are wider. */
#include "bench/bench.h"
#include "bench/report/report.h"
#include "graph/base/err.h"
#include "graph/base/formats.h"
#include "graph/base/js.h"
#include "bench/stats.h"
#include "bench/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Differences of the machine's state that are listed. */
static const double LOAD_DIFFERS = 0.5, SHARE_DIFFERS = 0.1; /* differences of load, and of shares, that are told */

/* What makes times incomparable, and what only has to be known. */
static const struct {
    const char *path;
    bool forbids;
} conditions[] = {
    {"environment/cpu", true},
    {"environment/threads", true},
    {"environment/isa", true},
    {"config/target", true},
    {"config/precision", true},
    {"config/seed", true},
    {"model/hash", true},
    {"model/inputs", true},
    {"config/as_written", false},
    {"config/reproducible", false},
    {"environment/variables", false},
    {"machine_state/state", false},
    {"environment/governor", false},
    {"environment/microcode", false},
    {"environment/os", false},
    {"environment/libc", false},
    {"environment/huge_pages", false},
    {"environment/tool/version", false},
    {"environment/tool/built_with", false},
    {"environment/tool/build", false},
    {"environment/tool/revision", false},
    {"environment/machine/text", false}, /* all that plans are made for, and not what happens to be free */
    {"environment/hypervisor_name", false}};

typedef struct pair_of_files {
    cJSON *before, *after;
    const compare_options *o;
} pair_of_files;

static cJSON *read_results(const char *text, const char *name, ts_error *e)
{
    cJSON *v = js_parse(text ? text : "", name, e);
    if (v && strcmp(js_get_text(v, "format"), FORMAT_RESULTS) != 0) {
        err_set(e, TS_BAD_INPUT, "%s: \"format\" is \"%.40s\", expected " FORMAT_RESULTS, name,
                js_get_text(v, "format"));
        cJSON_Delete(v);
        return NULL;
    }
    return v;
}

static void add_value(cJSON *row, const char *key, const cJSON *v)
{
    ENDED_BY(heap_free) char *text = cJSON_IsString(v) ? NULL : v ? js_to_text(v, false) : NULL;
    js_text(row, key, cJSON_IsString(v) ? v->valuestring : text ? text : "not stated");
}

/* Lists what differs; false when something does that makes the times incomparable. */
static bool add_differences(cJSON *out, const pair_of_files *p, ts_error *e)
{
    cJSON *list = js_array(out, "differences");
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
        const cJSON *x = js_get(p->before, conditions[i].path), *y = js_get(p->after, conditions[i].path);
        if ((!x && !y) || (x && y && cJSON_Compare(x, y, true)))
            continue;
        cJSON *row = js_row(list, "key:%s", conditions[i].path);
        add_value(row, "before", x);
        add_value(row, "after", y);
        if (conditions[i].forbids && !p->o->allow_env_diff) {
            err_set(e, TS_USAGE, "the results cannot be compared: %s is %.200s before and %.200s after",
                    conditions[i].path, js_get_text(row, "before"), js_get_text(row, "after"));
            return err_hint(e, "--allow-env-diff compares them nevertheless");
        }
    }
    return true;
}

/* ---- the machine's state ---- */

/* Numbers that are never equal, and are told where they differ by much. */
static void add_state_differences(cJSON *out, const pair_of_files *p)
{
    static const struct {
        const char *path;
        double much;
    } number[] = {{"machine_state/load_before", LOAD_DIFFERS},
                  {"machine_state/lost_share", SHARE_DIFFERS},
                  {"machine_state/flagged_share", SHARE_DIFFERS},
                  {"machine_state/stolen_share", SHARE_DIFFERS}};
    cJSON *list = cJSON_GetObjectItemCaseSensitive(out, "differences");
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
        const double x = js_get_number(p->before, number[i].path, NAN),
                     y = js_get_number(p->after, number[i].path, NAN);
        char text[64];
        if (!(fabs(x - y) > number[i].much))
            continue;
        cJSON *row = js_row(list, "key:%s", number[i].path);
        snprintf(text, sizeof text, "%.2f", x);
        js_text(row, "before", text);
        snprintf(text, sizeof text, "%.2f", y);
        js_text(row, "after", text);
    }
}

static bool is_overloaded(const cJSON *results)
{
    return strcmp(js_get_text(results, "machine_state/state"), "overloaded") == 0;
}

/* Why no verdict can stand on these two files, "" if one can: times taken under load say more of the load. */
static void states_forbid(const pair_of_files *p, char *why, size_t size)
{
    const cJSON *file[] = {p->before, p->after};
    const char *name[] = {p->o->before_name, p->o->after_name}, *state[2];
    why[0] = 0;
    for (int i = 0; i < 2; i++) {
        state[i] = js_get_text(file[i], "machine_state/state");
        if (why[0] == 0 && is_overloaded(file[i]))
            snprintf(why, size, "the machine was too busy for %.250s: measure again when less runs on it", name[i]);
        if (*state[i] == 0)
            state[i] = "in a state that is not stated";
    }
    if (why[0] == 0 && strcmp(state[0], state[1]) != 0)
        snprintf(why, size, "the machine was %.40s for %.250s and %.40s for %.250s: measure both in the same state",
                 state[0], name[0], state[1], name[1]);
}

/* What two runs may differ by that their samples do not show: the clock, as the canary saw it, and on a busy machine
 * what other programs cost beside the time that they took (caches, memory), which is held to be at most as much. */
static double margin_of(const pair_of_files *p)
{
    const double x = js_get_number(p->before, "machine_state/canary_ns", NAN);
    const double y = js_get_number(p->after, "machine_state/canary_ns", NAN);
    double margin = x > 0 && y > 0 ? fmax(x / y, y / x) - 1 : 0;
    const cJSON *file[] = {p->before, p->after};
    double most = 0;
    for (int i = 0; i < 2; i++)
        if (strcmp(js_get_text(file[i], "machine_state/state"), "busy") == 0)
            most = fmax(most, js_get_number(file[i], "machine_state/lost_share", 0) +
                                  js_get_number(file[i], "machine_state/stolen_share", 0));
    return margin + most;
}

/* ---- samples ---- */

/* Those that count, as where they were measured. Results that state no state are of versions that set aside what was
 * disturbed. */
static series samples_of(const cJSON *results, const cJSON *candidate)
{
    const char *flag = js_get(results, "machine_state") ? "set_aside" : "disturbed";
    const cJSON *launches = js_get(candidate, "samples"), *l, *s;
    int n = 0, n_launches = cJSON_GetArraySize(launches), at = 0;
    cJSON_ArrayForEach(l, launches) n += cJSON_GetArraySize(l);
    ENDED_BY(heap_free) int *start = calloc((size_t)n_launches + 1, sizeof *start);
    ENDED_BY(heap_free) double *v = calloc((size_t)n + 1, sizeof *v);
    bool *aside = calloc((size_t)n + 1, sizeof *aside), any = start && v && aside;
    n = 0;
    if (!any)
        launches = NULL;
    cJSON_ArrayForEach(l, launches)
    {
        cJSON_ArrayForEach(s, l)
        {
            double ns = js_get_number(s, "own_ns", js_get_number(s, "ns", NAN));
            if (ns > 0)
                aside[n] = js_find(js_get(s, "flags"), NULL, flag), v[n++] = ns;
        }
        start[++at] = n;
    }
    series out = any ? series_of(&(sample_set){n_launches, start, v}, aside) : (series){0};
    free(aside);
    return out;
}

/* ---- comparing ---- */

static bool is_valid(cJSON *notes, const cJSON *c, const char *file)
{
    char text[1024];
    if (strcmp(js_get_text(c, "status"), "VALID") == 0)
        return true;
    snprintf(text, sizeof text, "%.200s in %.200s is %.40s: %.500s", js_get_text(c, "name"), file,
             js_get_text(c, "status"), js_get_text(c, "reason"));
    js_item(notes, text);
    return false;
}

static void add_comparison(cJSON *out, const pair_of_files *p, const cJSON *before, const cJSON *after)
{
    cJSON *notes = cJSON_GetObjectItemCaseSensitive(out, "notes");
    if (!is_valid(notes, before, p->o->before_name) || !is_valid(notes, after, p->o->after_name))
        return;
    double threshold = p->o->threshold > 0 ? p->o->threshold : bench_usual.threshold;
    char why[700];
    series a = samples_of(p->after, after), b = samples_of(p->before, before);
    sample_set x = series_set(&a), y = series_set(&b);
    const double margin = margin_of(p);
    comparison c = stats_allow(stats_compare_apart(&x, &y, threshold, 0), margin, threshold);
    states_forbid(p, why, sizeof why);
    if (why[0] != 0)
        c.verdict = UNDECIDED;
    cJSON *row = js_object(cJSON_GetObjectItemCaseSensitive(out, "comparisons"), NULL);
    char label[600];
    snprintf(label, sizeof label, "%.250s (%.250s)", js_get_text(after, "name"), p->o->after_name);
    js_text(row, "a", label);
    snprintf(label, sizeof label, "%.250s (%.250s)", js_get_text(before, "name"), p->o->before_name);
    js_put(row, "b:%s,verdict:%s,ratio:%g,low:%g,high:%g,detectable:%g,threshold:%g", label, outcome_name(c.verdict),
           c.ratio, c.low, c.high, c.detectable, threshold);
    js_put(row, "pairs:%d,launches:%d,margin:%g,reason:%s", c.pairs, c.launches, margin, why[0] != 0 ? why : NULL);
    if (c.launches < 3)
        js_item(notes, "fewer than 3 launches: how much launches differ is not known, so intervals are too narrow");
    series_free(&a);
    series_free(&b);
}

static bool add_comparisons(cJSON *out, const pair_of_files *p, ts_error *e)
{
    const cJSON *before = js_get(p->before, "candidates"), *after = js_get(p->after, "candidates"), *c;
    int matched = 0;
    js_array(out, "comparisons");
    js_array(out, "notes");
    add_state_differences(out, p);
    cJSON_ArrayForEach(c, after)
    {
        const cJSON *same = js_find(js_get(p->before, "candidates"), "name", js_get_text(c, "name"));
        matched += same != NULL;
        if (same)
            add_comparison(out, p, same, c);
    }
    if (matched == 0 && cJSON_GetArraySize(before) == 1 && cJSON_GetArraySize(after) == 1) {
        add_comparison(out, p, cJSON_GetArrayItem(before, 0), cJSON_GetArrayItem(after, 0));
        matched = 1;
    }
    if (matched > 0)
        return true;
    err_set(e, TS_USAGE, "%s and %s have no candidate of the same name", p->o->before_name, p->o->after_name);
    return err_hint(e, "name the schema files alike, or measure one schema in each");
}

bool bench_compare(const compare_options *o, char **comparison_text, ts_error *e)
{
    compare_options named = *o;
    named.before_name = o->before_name ? o->before_name : "before";
    named.after_name = o->after_name ? o->after_name : "after";
    if (report_is(o->before, FORMAT_SUITE) && report_is(o->after, FORMAT_SUITE))
        return suite_compare(&named, comparison_text, e);
    pair_of_files p = {.o = &named};
    ENDED_BY(js_free) cJSON *out = cJSON_CreateObject();
    js_put(out, "format:%s,before:%s,after:%s", FORMAT_COMPARISON, named.before_name, named.after_name);
    p.before = read_results(o->before, named.before_name, e);
    p.after = p.before ? read_results(o->after, named.after_name, e) : NULL;
    bool ok = p.after && add_differences(out, &p, e) && add_comparisons(out, &p, e);
    *comparison_text = ok ? js_to_text(out, false) : NULL;
    cJSON_Delete(p.before);
    cJSON_Delete(p.after);
    return ok;
}

bool bench_has_verdict(const char *json, const char *wanted)
{
    ENDED_BY(js_free) cJSON *v = cJSON_Parse(json);
    const cJSON *c;
    bool found = false;
    cJSON_ArrayForEach(c, js_get(v, "comparisons")) found |= strcasecmp(js_get_text(c, "verdict"), wanted) == 0;
    cJSON_ArrayForEach(c, js_get(v, "candidates")) found |= strcasecmp(js_get_text(c, "status"), wanted) == 0;
    cJSON_ArrayForEach(c, js_get(v, "peers")) found |= strcasecmp(js_get_text(c, "status"), wanted) == 0;
    return found;
}
