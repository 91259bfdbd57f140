/* results.c - what was measured, as a results/1 object. Field by field: docs/bench.md, "Results". */
#include "graph/base/formats.h"
#include "bench/machine/shares.h"
#include "bench/notes.h"
#include "train/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- samples and statistics ---- */

typedef struct tally {
    int canary, disturbed, retaken;
} tally;

static tally tally_of(const measured *m, const contestant *c)
{
    tally t = {0};
    for (int i = 0; i < m->r->start[m->r->launches]; i++) {
        t.canary += sample_flagged(&c->samples[i], m->seen.usual_canary);
        t.disturbed += sample_disturbed(&c->samples[i]);
        t.retaken += c->samples[i].retaken;
    }
    return t;
}

/* Times in ns for one pass. */
static void add_stats(cJSON *row, const measured *m, const contestant *c)
{
    ENDED_BY(series_free) series s = measured_series(m, c);
    if (s.n == 0) {
        cJSON_AddNullToObject(row, "stats");
        return;
    }
    cJSON *v = js_object(row, "stats");
    tally t = tally_of(m, c);
    sample_set set = series_set(&s);
    interval at = stats_median_interval(&set, 0.95, m->r->o.seed);
    double mean = stats_mean(s.v, s.n), sd = stats_sd(s.v, s.n);
    js_put(v, "n:%d,launches:%d,min_ns:%g,median_ns:%g,low_ns:%g,high_ns:%g,p10_ns:%g", s.n, m->r->launches,
           stats_quantile(s.v, s.n, 0), stats_median(s.v, s.n), at.low, at.high, stats_quantile(s.v, s.n, 0.1));
    js_put(v, "p90_ns:%g,p99_ns:%g,max_ns:%g,mean_ns:%g,sd_ns:%g,cv:%g,mad_ns:%g", stats_quantile(s.v, s.n, 0.9),
           stats_quantile(s.v, s.n, 0.99), stats_quantile(s.v, s.n, 1), mean, sd, sd / mean, stats_mad(s.v, s.n));
    js_put(v, "flagged:%d,disturbed:%d,retaken:%d,set_aside:%d", t.canary, t.disturbed, t.retaken, s.aside);
}

/* No member "flags" where a sample has none: there are thousands of samples. */
static void add_flags(cJSON *row, const measured *m, const contestant *c, int i)
{
    const struct {
        bool is;
        const char *word;
    } flag[] = {{sample_flagged(&c->samples[i], m->seen.usual_canary), "canary"},
                {sample_disturbed(&c->samples[i]), "disturbed"},
                {m->aside && m->aside[i], "set_aside"}};
    cJSON *flags = NULL;
    for (size_t k = 0; k < sizeof flag / sizeof *flag; k++)
        if (flag[k].is)
            js_item(flags = flags ? flags : js_array(row, "flags"), flag[k].word);
}

/* [launch][sample], all of them, so that statistics can be made anew from the file. */
static void add_samples(cJSON *row, const measured *m, const contestant *c)
{
    cJSON *launches = js_array(row, "samples");
    for (int l = 0; l < m->r->launches && c->standing == IN_RACE; l++) {
        cJSON *list = js_array(launches, NULL);
        for (int i = m->r->start[l]; i < m->r->start[l + 1]; i++) {
            const sample *s = &c->samples[i];
            cJSON *one = js_row(list, "ns:%g,canary_ns:%g", round(s->ns), round(s->canary));
            if (m->seen.by_waiting > 0)
                js_number(one, "own_ns", round(sample_ns(m->r, &m->seen, s)));
            add_flags(one, m, c, i);
            if (s->taken > 0)
                js_number(one, "taken", s->taken);
            if (s->taken > 0 && s->lost >= 0)
                js_number(one, "lost_share", s->lost);
            if (s->retaken > 0) {
                js_put(one, "retaken:%d,retaken_lost:%g", s->retaken, s->retaken_lost);
            }
        }
    }
}

/* ---- kernels ---- */

/* kernel_ns: [profile, kernel], in ns. */
static double median_of_kernel(const contestant *c, int k)
{
    ENDED_BY(heap_free) double *v = calloc((size_t)c->profiles + 1, sizeof *v);
    for (int l = 0; v && l < c->profiles; l++)
        v[l] = c->kernel_ns[l * c->n_kernels + k];
    return stats_median(v, v ? c->profiles : 0);
}

/* Of devices: what kernels take by their clock, transfers to and from the host apart. */
static void add_device_time(cJSON *row, const race *r, const contestant *c)
{
    double ns = 0;
    if (c->profiles == 0 || (!c->peer && !js_get_flag(r->ceilings, "stated")))
        return;
    for (int k = 0; k < c->n_kernels; k++)
        ns += median_of_kernel(c, k);
    js_number(row, "device_ns", ns);
}

/* The plan's kernels, with what was measured and the share of the ceilings that it comes to. */
static void add_kernels(cJSON *row, const race *r, const contestant *c)
{
    cJSON *list = js_array(row, "kernels");
    const char *isa = js_get_text(c->facts, "plan/isa");
    const cJSON *kernel;
    int k = 0;
    cJSON_ArrayForEach(kernel, js_get(c->facts, "plan/kernels"))
    {
        cJSON *one = cJSON_Duplicate(kernel, true);
        double ns = median_of_kernel(c, k++);
        if (!js_get(one, "calls"))
            js_number(one, "calls", 1);
        js_number(one, "median_ns", ns);
        cJSON *launches = js_array(one, "launch_ns");
        for (int l = 0; l < c->profiles; l++)
            cJSON_AddItemToArray(launches, cJSON_CreateNumber(round(c->kernel_ns[l * c->n_kernels + k - 1])));
        kernel_share(one, r->ceilings, r->o.threads, isa, ns);
        cJSON_AddItemToArray(list, one);
    }
}

/* ---- contestants ---- */

/* Of one pass. */
static double total_flops(const contestant *c)
{
    double sum = 0;
    const cJSON *kernel;
    cJSON_ArrayForEach(kernel, js_get(c->facts, "plan/kernels")) sum += js_get_number(kernel, "flops", 0);
    return sum;
}

/* Bytes. */
static void add_memory(cJSON *row, const contestant *c)
{
    const cJSON *planned = js_get(c->facts, "plan/memory");
    cJSON *memory = cJSON_IsObject(planned) ? cJSON_Duplicate(planned, true) : cJSON_CreateObject();
    cJSON_DeleteItemFromObjectCaseSensitive(memory, "peak_bytes"); /* the process's, which includes everything */
    js_number(memory, "peak_bytes", c->peak_bytes > 0 ? c->peak_bytes : NAN);
    cJSON_AddItemToObject(row, "memory", memory);
}

static void add_numerics(cJSON *row, const contestant *c)
{
    cJSON *v = js_object(row, "numerics");
    bool known = c->numerics.tolerance > 0 || (c->standing == IN_RACE && *c->unverified == 0);
    js_put(v, "max_abs:%g,max_rel:%g,tolerance:%g", known ? c->numerics.max_abs : NAN,
           known ? c->numerics.max_rel : NAN, known ? c->numerics.tolerance : NAN);
}

/* Seconds of reading, binding, planning and building, then what the back end says of its compiler. */
static void add_build(cJSON *row, const contestant *c)
{
    cJSON *v = js_object(row, "build");
    static const char *const key[] = {"read_s", "bind_s", "plan_s", "build_s"};
    for (size_t i = 0; i < sizeof key / sizeof *key; i++)
        js_number(v, key[i], js_get_number(c->facts, key[i], NAN));
    const cJSON *planned = js_get(c->facts, "plan/build"), *item;
    cJSON_ArrayForEach(item, planned)
    {
        if (item->string && !js_get(v, item->string))
            cJSON_AddItemToObject(v, item->string, cJSON_Duplicate(item, true));
    }
}

/* FNV-1a of a schema file: enough to see that two results came from the same text. */
static void add_schema_hash(cJSON *row, const char *schema)
{
    FILE *f = schema ? fopen(schema, "rb") : NULL;
    if (!f)
        return;
    uint64_t h = 0xCBF29CE484222325u;
    for (int c = fgetc(f); c != EOF; c = fgetc(f))
        h = (h ^ (uint64_t)c) * 0x100000001B3u;
    fclose(f);
    char hex[17];
    snprintf(hex, sizeof hex, "%016llx", (unsigned long long)h);
    js_text(row, "schema_hash", hex);
}

static void add_contestant(cJSON *list, const measured *m, const contestant *c)
{
    const race *r = m->r;
    static const char *const status[] = {"VALID", "INVALID", "ABSENT"};
    cJSON *row = js_row(list, "name:%s,status:%s,reason:%s", c->name, status[c->standing],
                        c->standing == IN_RACE ? NULL : c->reason);
    if (c->late)
        js_flag(row, "timed_out", true);
    if (c->peer)
        js_text(row, "version", c->facts ? js_get_text(c->facts, "version") : NULL);
    else
        js_text(row, "schema", c->schema);
    add_schema_hash(row, c->schema);
    add_stats(row, m, c);
    if (c->standing == IN_RACE) {
        js_put(row, "warm_passes:%d,passes_per_sample:%d", c->warm, c->passes);
    }
    add_device_time(row, r, c);
    if (!c->peer) {
        js_number(row, "flops", total_flops(c));
        add_kernels(row, r, c);
        add_build(row, c);
    }
    add_memory(row, c);
    add_numerics(row, c);
    if (!c->peer && js_get(c->facts, "plan")) {
        cJSON *plan = cJSON_Duplicate(js_get(c->facts, "plan"), true);
        cJSON_DeleteItemFromObjectCaseSensitive(plan, "kernels"); /* above, with their times */
        cJSON_DeleteItemFromObjectCaseSensitive(plan, "memory");
        cJSON_AddItemToObject(row, "plan", plan);
    }
    if (c->peer && js_get(c->facts, "settings"))
        cJSON_AddItemToObject(row, "settings", cJSON_Duplicate(js_get(c->facts, "settings"), true));
    add_samples(row, m, c);
}

/* ---- comparisons ---- */

/* What one of them is off by is another order than what the other is, and more than roundings of f32. */
static bool differ_in_accuracy(const contestant *a, const contestant *b)
{
    const double x = a->numerics.max_rel, y = b->numerics.max_rel;
    return fmax(x, y) > 1e-4 && fmax(x, y) > 10 * fmin(x, y) && !*a->unverified && !*b->unverified;
}

/* ratio: time of b over time of a; low and high bound it with the confidence of the configuration. */
static void add_comparison(cJSON *list, const measured *m, const contestant *a, const contestant *b)
{
    const comparison c = measured_compare(m, a, b);
    cJSON *row = js_row(list, "a:%s,b:%s,verdict:%s,ratio:%g,low:%g,high:%g,detectable:%g", a->name, b->name,
                        outcome_name(c.verdict), c.ratio, c.low, c.high, c.detectable);
    js_put(row, "threshold:%g,pairs:%d,launches:%d,margin:%g", m->r->o.threshold, c.pairs, c.launches,
           measured_margin(m));
    if (differ_in_accuracy(a, b))
        js_put(row, "a_error:%g,b_error:%g", a->numerics.max_rel, b->numerics.max_rel);
}

/* Every candidate against everyone after it; peers are not compared with each other. */
static void add_comparisons(cJSON *out, const measured *m)
{
    const race *r = m->r;
    cJSON *list = js_array(out, "comparisons");
    for (int i = 0; i < r->n_candidates; i++)
        for (int k = i + 1; k < r->n; k++)
            if (r->of[i].standing == IN_RACE && r->of[k].standing == IN_RACE)
                add_comparison(list, m, &r->of[i], &r->of[k]);
}

/* ---- the whole ---- */

/* A step of training is another workload: its figures are compared only with those of the same step. */
static void add_step(cJSON *dims, const train_options *w, const cJSON *facts)
{
    char text[64];
    snprintf(text, sizeof text, "train=%s", w->task);
    js_item(dims, text);
    snprintf(text, sizeof text, "batch=%lld", (long long)w->batch);
    js_item(dims, text);
    if (!js_get(facts, "length")) /* of images */
        return;
    snprintf(text, sizeof text, "length=%lld", (long long)w->length);
    js_item(dims, text);
}

/* The hash is of the file; inputs that were drawn are left without a path, those given keep theirs. */
static void add_model(cJSON *out, const race *r)
{
    cJSON *model = js_object(out, "model");
    js_put(model, "name:%s,hash:%s", r->o.model, js_get_text(r->judge.facts, "hash"));
    cJSON *dims = js_array(model, "dims");
    for (int i = 0; i < r->o.n_dims; i++)
        js_item(dims, r->o.dims[i]);
    if (r->o.train)
        add_step(dims, r->o.train, r->judge.facts);
    const char *const list[] = {"inputs", "outputs"};
    for (int i = 0; i < 2; i++) {
        cJSON *ports = cJSON_Duplicate(js_get(r->judge.facts, list[i]), true), *port;
        cJSON_ArrayForEach(port, ports)
        {
            if (strncmp(js_get_text(port, "path"), r->folder, strlen(r->folder)) == 0)
                cJSON_DeleteItemFromObjectCaseSensitive(port, "path"); /* drawn from the seed */
        }
        cJSON_AddItemToObject(model, list[i], ports);
    }
}

/* All that a repetition needs to be the same race; NAN is written as null. */
cJSON *race_config_make(const race *r)
{
    cJSON *v = cJSON_CreateObject();
    js_put(v, "model:%s,target:%s", r->o.model, r->o.target);
    if (r->o.judge)
        js_text(v, "judge", r->o.judge);
    js_put(v, "isa:%s,threads:%d,as_written:%i", r->o.isa, r->o.threads, r->o.as_written);
    if (r->o.reproducible)
        js_put(v, "reproducible:%i", true);
    if (r->o.precision)
        js_text(v, "precision", r->o.precision);
    js_put(v, "min_time_s:%g,max_time_s:%g,launches:%d,rounds:%d,threshold:%g,confidence:%g,tolerance:%g,timeout_s:%g",
           r->o.min_time > 0 ? r->o.min_time : NAN, r->o.max_time, r->o.launches, r->rounds, r->o.threshold, 0.99,
           r->o.tolerance > 0 ? r->o.tolerance : NAN, r->o.timeout);
    js_number(v, "seed", (double)r->o.seed);
    return v;
}

/* The state, and what it was concluded from. */
static void add_state(cJSON *out, const measured *m)
{
    const conditions *seen = &m->seen;
    cJSON *v = js_object(out, "machine_state");
    js_put(v, "state:%s,why:%s,rounds:%d,counted_rounds:%d,samples:%d,disturbed:%d,lost_share:%g",
           state_name(seen->state), seen->why[0] != 0 ? seen->why : NULL, seen->rounds, seen->counted, seen->taken,
           seen->disturbed, seen->lost);
    js_put(v, "flagged_share:%g,stolen_share:%g,canary_ns:%g,load_before:%g,load_after:%g", seen->flagged, seen->stolen,
           seen->usual_canary, m->r->load_before, load_now());
}

static cJSON *environment_of(const race *r)
{
    const char *isa = r->o.isa;
    for (int i = 0; i < r->n_candidates && !isa; i++)
        if (*js_get_text(r->of[i].facts, "plan/isa") != 0)
            isa = js_get_text(r->of[i].facts, "plan/isa");
    cJSON *v = environment_make(isa, r->o.threads, r->o.seed);
    js_number(v, "steal_share", stolen_share(r->ticks_before, r->ticks_after));
    cJSON *pinned = js_array(v, "pinned_to");
    for (int i = 0; i < r->o.threads; i++)
        cJSON_AddItemToArray(pinned, cJSON_CreateNumber(r->cpus.cpu[i]));
    return v;
}

static void add_partial(cJSON *out, const race *r)
{
    if (r->signal == 0)
        return;
    cJSON *v = js_object(out, "partial");
    js_put(v, "signal:%d,launches:%d,wanted_launches:%d", r->signal, r->launches, r->o.launches);
}

char *results_json(const race *r)
{
    ENDED_BY(js_free) cJSON *out = cJSON_CreateObject();
    bool *aside = rounds_aside_make(r);
    const measured m = {r, aside, conditions_of(r, aside)};
    js_put(out, "format:%s,tool:%s", FORMAT_RESULTS, "tessera " TS_VERSION);
    if (r->o.repro)
        js_text(out, "repro", r->o.repro);
    add_state(out, &m);
    add_partial(out, r);
    cJSON_AddItemToObject(out, "config", race_config_make(r));
    add_model(out, r);
    cJSON_AddItemToObject(out, "environment", environment_of(r));
    cJSON_AddItemToObject(out, "ceilings", cJSON_Duplicate(r->ceilings, true));
    cJSON *candidates = js_array(out, "candidates"), *peers = js_array(out, "peers");
    for (int i = 0; i < r->n; i++)
        add_contestant(i < r->n_candidates ? candidates : peers, &m, &r->of[i]);
    add_comparisons(out, &m);
    notes_add(out, &m);
    char *text = js_to_text(out, false);
    free(aside);
    return text;
}

int bench_stopped(const char *results)
{
    ENDED_BY(js_free) cJSON *v = cJSON_Parse(results);
    const int signal = (int)js_get_number(v, "partial/signal", 0);
    return signal;
}

bool bench_timed_out(const char *results)
{
    ENDED_BY(js_free) cJSON *v = cJSON_Parse(results);
    const cJSON *list[] = {js_get(v, "candidates"), js_get(v, "peers")}, *c;
    bool late = false;
    for (int i = 0; i < 2; i++)
        cJSON_ArrayForEach(c, list[i]) late |= js_get_flag(c, "timed_out");
    return late;
}
