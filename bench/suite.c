/* suite.c - the list, and its races one after the other. */
#include "bench/suite.h"
#include "backends/probe/cpus.h"
#include "bench/networks.h"
#include "graph/base/err.h"
#include "graph/base/formats.h"
#include "graph/base/js.h"
#include "graph/base/suggest.h"
#include "train/options.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
    const char *name, *model; /* model: a built-in one; NULL: a network */
    int network;              /* which */
    const char *dims[2];
    const char *task; /* of a step of training; NULL: a pass */
    int batch, length;
} entry;

static const entry entries[] = {
    {.name = "bert-base", .model = "bert-base", .dims = {"seq=128"}},
    {.name = "minilm", .model = "minilm", .dims = {"seq=128"}},
    {.name = "resnet-50", .model = "resnet-50"},
    {.name = "gpt2-prefill", .model = "gpt2", .dims = {"seq=128", "past=0"}},
    {.name = "gpt2-decode", .model = "gpt2", .dims = {"seq=1", "past=127"}},
    {.name = "minilm-train", .model = "minilm", .task = "classify", .batch = 32, .length = 64},
    {.name = "gpt2-train", .model = "gpt2", .task = "lm", .batch = 4, .length = 64}};

/* Those and then all networks; of none the name is NULL. */
static entry entry_at(int i)
{
    const int network = i - COUNT(entries);
    return network < 0 ? entries[i] : (entry){.name = network_name(network), .network = network};
}

typedef struct running {
    const suite *s;
    cJSON *root, *races;
    const char *doing; /* the race at hand, for progress */
} running;

static void tell(void *user, const char *what, int done, int total)
{
    const running *r = user;
    char line[400];
    snprintf(line, sizeof line, "%.60s: %.300s", r->doing, what);
    if (r->s->each.progress)
        r->s->each.progress(r->s->each.user, line, done, total);
}

static bool is_asked(const suite *s, const entry *n)
{
    bool any = s->n_only == 0;
    for (int i = 0; i < s->n_only; i++)
        any = any || fnmatch(s->only[i], n->name, 0) == 0;
    return any;
}

/* ---- a race ---- */

/* Quickly, a step or a long pass is not computed a second time in f64 by plain loops. */
static bool race(const running *r, const entry *n, int threads, char **results, ts_error *e)
{
    static const char *const runtimes[] = {"onnxruntime", "openvino"}, *const trainers[] = {"pytorch"};
    bench_options o = r->s->each;
    train_options step;
    ENDED_BY(heap_free) char *graph = n->model ? NULL : network_make(n->network);
    o.model = n->model ? n->model : n->name, o.graph = graph;
    o.dims = n->dims, o.n_dims = (n->dims[0] != NULL) + (n->dims[1] != NULL);
    o.threads = threads;
    o.absent_peers = true;
    o.peers = n->task ? trainers : runtimes, o.n_peers = n->task ? COUNT(trainers) : COUNT(runtimes);
    o.judge = o.judge ? o.judge : n->task || r->s->quick ? "c" : NULL;
    o.launches = r->s->quick ? 1 : 3, o.min_time = r->s->quick ? 0.05 : 1;
    o.progress = tell, o.user = (void *)(uintptr_t)r;
    option_make(&step);
    if (n->task)
        option_set_text(&step.task, n->task), step.batch = n->batch, step.length = n->length, o.train = &step;
    const bool ok = bench_run(&o, results, e);
    option_free(&step);
    return ok;
}

/* By what candidates go other ways than the model says: "Strassen". */
static void add_ways(cJSON *list, const cJSON *kernels)
{
    const cJSON *k;
    cJSON_ArrayForEach(k, kernels)
    {
        const char *way = js_get_text(k, "work/by");
        if (*way && !js_find(list, NULL, way))
            js_item(list, way);
    }
}

/* What comparing needs. */
static void keep_results(cJSON *row, const char *results)
{
    cJSON *v = cJSON_Parse(results), *c, *ways = js_array(row, "ways");
    cJSON_ArrayForEach(c, cJSON_GetObjectItemCaseSensitive(v, "candidates"))
    {
        add_ways(ways, js_get(c, "kernels"));
        cJSON_DeleteItemFromObjectCaseSensitive(c, "kernels");
        cJSON_DeleteItemFromObjectCaseSensitive(c, "plan");
    }
    cJSON_AddItemToObject(row, "results", v);
}

static const cJSON *race_find(const cJSON *of, const char *name, int threads)
{
    const cJSON *r;
    cJSON_ArrayForEach(r, js_get(of, "races")) if (strcmp(js_get_text(r, "name"), name) == 0 &&
                                                   js_get_number(r, "threads", 0) == threads) return r;
    return NULL;
}

static bool run_entry(running *r, const entry *n, int threads, const cJSON *old, int *signal, ts_error *e)
{
    const cJSON *known = race_find(old, n->name, threads);
    char *results = NULL, doing[64];
    ts_error own = {0};
    if (known && js_get(known, "results")) {
        cJSON_AddItemToArray(r->races, cJSON_Duplicate(known, true));
        return true;
    }
    snprintf(doing, sizeof doing, "%s, %d thread%s", n->name, threads, threads == 1 ? "" : "s");
    r->doing = doing;
    const bool ok = race(r, n, threads, &results, &own);
    *signal = ok ? bench_stopped(results) : 0;
    if (*signal != 0 || own.code == TS_USAGE)
        return free(results), *signal != 0 || (*e = own, false);
    cJSON *row = js_row(r->races, "name:%s,threads:%d", n->name, threads);
    if (ok)
        keep_results(row, results);
    else
        js_text(row, "error", own.text);
    free(results);
    ENDED_BY(heap_free) char *so_far = r->s->keep ? js_to_text(r->root, false) : NULL;
    return !so_far || r->s->keep(r->s->user, so_far, e);
}

/* ---- the whole ---- */

/* What a suite that goes on has to have in common. */
static void add_asked(cJSON *root, const suite *s)
{
    const bench_options *o = &s->each;
    js_put(js_object(root, "asked"), "quick:%i,target:%s,isa:%s,judge:%s,as_written:%i", s->quick, o->target, o->isa,
           o->judge, o->as_written);
}

static const char wrote[] = "give the file that tessera suite wrote with -o";

static bool same_suite(const cJSON *old, const cJSON *root, ts_error *e)
{
    if (strcmp(js_get_text(old, "format"), FORMAT_SUITE) != 0) {
        err_set(e, TS_BAD_INPUT, "--resume: \"format\" is \"%.40s\", expected " FORMAT_SUITE,
                js_get_text(old, "format"));
        return err_hint(e, "%s", wrote);
    }
    if (cJSON_Compare(js_get(old, "asked"), js_get(root, "asked"), true) &&
        strcmp(js_get_text(old, "tool"), js_get_text(root, "tool")) == 0)
        return true;
    err_set(e, TS_USAGE, "--resume: the suite was measured with other options, or by another version");
    return err_hint(e, "a suite goes on with the options that it began with; --only and --threads may differ");
}

static bool any_asked(const suite *s, ts_error *e)
{
    ENDED_BY(suggest_free) suggestion near = {.word = s->n_only ? s->only[0] : ""};
    bool any = false;
    entry n;
    for (int i = 0; (n = entry_at(i)).name; i++) {
        any = any || is_asked(s, &n);
        suggest_offer(&near, n.name);
    }
    if (!any) {
        err_set(e, TS_USAGE, "--only %s: no race of the suite is called so", s->only[0]);
        suggest_hint(&near, "there are", e);
    }
    return any;
}

static bool run_all(running *r, const cJSON *old, int *signal, ts_error *e)
{
    cpu_list cpus;
    cpus_allowed(&cpus);
    const int given = r->s->each.threads, list[] = {given ? given : r->s->quick ? cpus.cores : 1, cpus.cores};
    const int n = given || r->s->quick || cpus.cores == 1 ? 1 : 2;
    entry one;
    for (int i = 0; (one = entry_at(i)).name; i++)
        for (int k = 0; k < n && *signal == 0 && is_asked(r->s, &one); k++)
            if (!run_entry(r, &one, list[k], old, signal, e))
                return false;
    return true;
}

bool bench_suite(const suite *s, char **out, int *signal, ts_error *e)
{
    running r = {.s = s, .root = cJSON_CreateObject()};
    js_put(r.root, "format:%s,tool:%s", FORMAT_SUITE, "tessera " TS_VERSION);
    add_asked(r.root, s);
    r.races = js_array(r.root, "races");
    *signal = 0, *out = NULL;
    ENDED_BY(js_free) cJSON *old = s->earlier ? js_parse(s->earlier, "--resume", e) : NULL;
    if (s->earlier && !old)
        err_hint(e, "%s", wrote);
    const bool ok = any_asked(s, e) && (!s->earlier || (old && same_suite(old, r.root, e))) &&
                    run_all(&r, old, signal, e);
    if (ok)
        *out = js_to_text(r.root, false);
    cJSON_Delete(r.root);
    return ok;
}

bool suite_failed(const char *json)
{
    ENDED_BY(js_free) cJSON *v = cJSON_Parse(json);
    const cJSON *r, *c;
    bool failed = false;
    cJSON_ArrayForEach(r, js_get(v, "races"))
    {
        failed = failed || js_get(r, "error");
        cJSON_ArrayForEach(c, js_get(r, "results/candidates")) failed |= strcmp(js_get_text(c, "status"), "VALID") != 0;
    }
    return failed;
}

/* ---- comparing ---- */

/* comparison/1 of one race into that of all; what differs between the files is told once. */
static void join_comparison(cJSON *out, const char *one)
{
    static const char *const lists[] = {"differences", "comparisons", "notes"};
    cJSON *v = cJSON_Parse(one), *item;
    for (int i = 0; i < COUNT(lists); i++) {
        cJSON *to = cJSON_GetObjectItemCaseSensitive(out, lists[i]);
        const cJSON *known;
        cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(v, lists[i]))
        {
            bool told = false;
            cJSON_ArrayForEach(known, to) told = told || cJSON_Compare(known, item, true);
            if (!told)
                cJSON_AddItemToArray(to, cJSON_Duplicate(item, true));
        }
    }
    cJSON_Delete(v);
}

static bool compare_race(cJSON *out, const compare_options *o, const cJSON *before, const cJSON *after, ts_error *e)
{
    compare_options one = *o;
    char names[2][320],
        *texts[] = {js_to_text(js_get(before, "results"), false), js_to_text(js_get(after, "results"), false)},
        *comparison = NULL;
    const char *files[] = {o->before_name, o->after_name};
    const double threads = js_get_number(after, "threads", 0);
    for (int i = 0; i < 2; i++)
        snprintf(names[i], sizeof names[i], "%.60s, %.0f thread%s, %.200s", js_get_text(after, "name"), threads,
                 threads == 1 ? "" : "s", files[i]);
    one.before = texts[0], one.after = texts[1], one.before_name = names[0], one.after_name = names[1];
    const bool ok = bench_compare(&one, &comparison, e);
    if (ok)
        join_comparison(out, comparison);
    free(comparison), free(texts[0]), free(texts[1]);
    return ok;
}

/* Of all comparisons: the geometric mean, and how many races there are of it. */
static void add_mean(cJSON *out)
{
    const cJSON *c;
    double sum = 0;
    int n = 0;
    char line[128];
    cJSON_ArrayForEach(c, js_get(out, "comparisons"))
    {
        const double ratio = js_get_number(c, "ratio", NAN);
        if (ratio > 0)
            sum += log(ratio), n++;
    }
    snprintf(line, sizeof line, "geometric mean of %d: %.3fx, above 1 where the later is faster", n, exp(sum / n));
    if (n > 0)
        js_item(cJSON_GetObjectItemCaseSensitive(out, "notes"), line);
}

bool suite_compare(const compare_options *o, char **out, ts_error *e)
{
    ENDED_BY(js_free)
    cJSON *before = js_parse(o->before, o->before_name, e),
          *after = before ? js_parse(o->after, o->after_name, e) : NULL;
    ENDED_BY(js_free)
    cJSON *v = js_put(cJSON_CreateObject(), "format:%s,before:%s,after:%s", FORMAT_COMPARISON, o->before_name,
                      o->after_name);
    static const char *const lists[] = {"differences", "comparisons", "notes"};
    const cJSON *r;
    bool ok = after, any = false;
    for (int i = 0; i < COUNT(lists); i++)
        js_array(v, lists[i]);
    cJSON_ArrayForEach(r, js_get(after, "races"))
    {
        const cJSON *same = race_find(before, js_get_text(r, "name"), (int)js_get_number(r, "threads", 0));
        if (!js_get(r, "results") || !js_get(same, "results"))
            continue;
        ok = ok && compare_race(v, o, same, r, e);
        any = true;
    }
    if (ok && !any)
        ok = err_set(e, TS_USAGE, "%s and %s have no race in common", o->before_name, o->after_name);
    add_mean(v);
    *out = ok ? js_to_text(v, false) : NULL;
    return ok;
}
