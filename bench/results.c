/* results.c - what was measured, as a results/1 object. Field by field: docs/bench.md, "Results". */
#include "graph/base/err.h"
#include "bench/race.h"
#include "bench/machine/shares.h"
#include "train/options.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double CANARY_MOVES = 1.005; /* beyond it a sample is flagged */

/* ---- samples and statistics ---- */

/* Those samples of a that count where neither a nor b was to be disturbed: pairs are kept or set aside together. */
static series samples_of(const race *r, const contestant *a, const contestant *b)
{
    int n = a->standing == IN_RACE ? r->start[r->o.launches] : 0;
    double *v = calloc((size_t)n + 1, sizeof *v);
    bool *disturbed = calloc((size_t)n + 1, sizeof *disturbed);
    bool any = n > 0 && v != NULL && disturbed != NULL;
    for (int i = 0; any && i < n; i++) {
        v[i] = a->samples[i].ns;
        disturbed[i] = a->samples[i].taken > 0 || b->samples[i].taken > 0;
    }
    series s = any ? series_of(&(sample_set){r->o.launches, r->start, v}, disturbed) : (series){0};
    free(v);
    free(disturbed);
    return s;
}

static double usual_canary(const race *r)
{
    int each = r->start[r->o.launches], n = 0;
    double *all = calloc((size_t)each * (size_t)r->n + 1, sizeof *all);
    for (int i = 0; all != NULL && i < r->n; i++)
        for (int k = 0; r->of[i].standing == IN_RACE && k < each; k++)
            all[n++] = r->of[i].samples[k].canary;
    double median = stats_median(all, n);
    free(all);
    return median;
}

typedef struct tally {
    int all, canary, taken;
} tally;

static tally tally_of(const race *r, const contestant *c, double usual)
{
    tally t = {.all = c->standing == IN_RACE ? r->start[r->o.launches] : 0};
    for (int i = 0; i < t.all; i++) {
        t.canary += c->samples[i].canary > CANARY_MOVES * usual;
        t.taken += c->samples[i].taken > 0;
    }
    return t;
}

static void add_stats(cJSON *row, const race *r, const contestant *c, double usual)
{
    series s = samples_of(r, c, c);
    if (s.n == 0) {
        cJSON_AddNullToObject(row, "stats");
        series_free(&s);
        return;
    }
    cJSON *v = js_object(row, "stats");
    tally t = tally_of(r, c, usual);
    sample_set set = series_set(&s);
    interval at = stats_median_interval(&set, 0.95, r->o.seed);
    double mean = stats_mean(s.v, s.n), sd = stats_sd(s.v, s.n);
    js_number(v, "n", s.n);
    js_number(v, "launches", r->o.launches);
    js_number(v, "min_ns", stats_quantile(s.v, s.n, 0));
    js_number(v, "median_ns", stats_median(s.v, s.n));
    js_number(v, "low_ns", at.low);
    js_number(v, "high_ns", at.high);
    js_number(v, "p10_ns", stats_quantile(s.v, s.n, 0.1));
    js_number(v, "p90_ns", stats_quantile(s.v, s.n, 0.9));
    js_number(v, "p99_ns", stats_quantile(s.v, s.n, 0.99));
    js_number(v, "max_ns", stats_quantile(s.v, s.n, 1));
    js_number(v, "mean_ns", mean);
    js_number(v, "sd_ns", sd);
    js_number(v, "cv", sd / mean);
    js_number(v, "mad_ns", stats_mad(s.v, s.n));
    js_number(v, "flagged", t.canary);
    js_number(v, "disturbed", t.taken);
    js_number(v, "set_aside", s.aside);
    series_free(&s);
}

static void add_samples(cJSON *row, const race *r, const contestant *c, double usual)
{
    cJSON *launches = js_array(row, "samples");
    for (int l = 0; l < r->o.launches && c->standing == IN_RACE; l++) {
        cJSON *list = js_array(launches, NULL);
        for (int i = r->start[l]; i < r->start[l + 1]; i++) {
            const sample *s = &c->samples[i];
            cJSON *one = js_object(list, NULL), *flags;
            js_number(one, "ns", round(s->ns));
            js_number(one, "canary_ns", round(s->canary));
            if (s->taken == 0 && s->canary <= CANARY_MOVES * usual)
                continue;
            flags = js_array(one, "flags");
            if (s->canary > CANARY_MOVES * usual)
                js_item(flags, "canary");
            if (s->taken > 0)
                js_item(flags, "disturbed");
        }
    }
}

/* ---- kernels ---- */

static double median_of_kernel(const contestant *c, int k)
{
    double *v = calloc((size_t)c->profiles + 1, sizeof *v);
    for (int l = 0; v != NULL && l < c->profiles; l++)
        v[l] = c->kernel_ns[l * c->n_kernels + k];
    double median = stats_median(v, v != NULL ? c->profiles : 0);
    free(v);
    return median;
}

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
        if (js_get(one, "calls") == NULL)
            js_number(one, "calls", 1);
        js_number(one, "median_ns", ns);
        kernel_share(one, r->ceilings, r->o.threads, isa, ns);
        cJSON_AddItemToArray(list, one);
    }
}

/* ---- contestants ---- */

static double total_flops(const contestant *c)
{
    double sum = 0;
    const cJSON *kernel;
    cJSON_ArrayForEach(kernel, js_get(c->facts, "plan/kernels")) sum += js_get_number(kernel, "flops", 0);
    return sum;
}

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
    js_number(v, "max_abs", known ? c->numerics.max_abs : NAN);
    js_number(v, "max_rel", known ? c->numerics.max_rel : NAN);
    js_number(v, "tolerance", known ? c->numerics.tolerance : NAN);
}

static void add_build(cJSON *row, const contestant *c)
{
    cJSON *v = js_object(row, "build");
    static const char *const key[] = {"read_s", "bind_s", "plan_s", "build_s"};
    for (size_t i = 0; i < sizeof key / sizeof *key; i++)
        js_number(v, key[i], js_get_number(c->facts, key[i], NAN));
    const cJSON *planned = js_get(c->facts, "plan/build"), *item;
    cJSON_ArrayForEach(item, planned)
    {
        if (item->string != NULL && js_get(v, item->string) == NULL)
            cJSON_AddItemToObject(v, item->string, cJSON_Duplicate(item, true));
    }
}

/* FNV-1a of a schema file: enough to see that two results came from the same text. */
static void add_schema_hash(cJSON *row, const char *schema)
{
    FILE *f = schema != NULL ? fopen(schema, "rb") : NULL;
    if (f == NULL)
        return;
    uint64_t h = 0xCBF29CE484222325u;
    for (int c = fgetc(f); c != EOF; c = fgetc(f))
        h = (h ^ (uint64_t)c) * 0x100000001B3u;
    fclose(f);
    char hex[17];
    snprintf(hex, sizeof hex, "%016llx", (unsigned long long)h);
    js_text(row, "schema_hash", hex);
}

static void add_contestant(cJSON *list, const race *r, const contestant *c, double usual)
{
    static const char *const status[] = {"VALID", "INVALID", "ABSENT"};
    cJSON *row = js_object(list, NULL);
    js_text(row, "name", c->name);
    js_text(row, "status", status[c->standing]);
    js_text(row, "reason", c->standing == IN_RACE ? NULL : c->reason);
    if (c->peer != NULL)
        js_text(row, "version", c->facts != NULL ? js_get_text(c->facts, "version") : NULL);
    else
        js_text(row, "schema", c->schema);
    add_schema_hash(row, c->schema);
    add_stats(row, r, c, usual);
    if (c->standing == IN_RACE) {
        js_number(row, "warm_passes", c->warm);
        js_number(row, "passes_per_sample", c->passes);
    }
    if (c->peer == NULL) {
        js_number(row, "flops", total_flops(c));
        add_kernels(row, r, c);
        add_build(row, c);
    }
    add_memory(row, c);
    add_numerics(row, c);
    if (c->peer == NULL && js_get(c->facts, "plan") != NULL) {
        cJSON *plan = cJSON_Duplicate(js_get(c->facts, "plan"), true);
        cJSON_DeleteItemFromObjectCaseSensitive(plan, "kernels"); /* above, with their times */
        cJSON_DeleteItemFromObjectCaseSensitive(plan, "memory");
        cJSON_AddItemToObject(row, "plan", plan);
    }
    if (c->peer != NULL && js_get(c->facts, "settings") != NULL)
        cJSON_AddItemToObject(row, "settings", cJSON_Duplicate(js_get(c->facts, "settings"), true));
    add_samples(row, r, c, usual);
}

/* ---- comparisons ---- */

static void add_comparison(cJSON *list, const race *r, const contestant *a, const contestant *b)
{
    series sa = samples_of(r, a, b), sb = samples_of(r, b, a);
    sample_set x = series_set(&sa), y = series_set(&sb);
    comparison c = stats_compare(&x, &y, r->o.threshold, r->o.seed);
    cJSON *row = js_object(list, NULL);
    js_text(row, "a", a->name);
    js_text(row, "b", b->name);
    js_text(row, "verdict", verdict_name(c.verdict));
    js_number(row, "ratio", c.ratio);
    js_number(row, "low", c.low);
    js_number(row, "high", c.high);
    js_number(row, "detectable", c.detectable);
    js_number(row, "threshold", r->o.threshold);
    js_number(row, "pairs", c.pairs);
    js_number(row, "launches", c.launches);
    series_free(&sa);
    series_free(&sb);
}

/* Every candidate against everyone after it; peers are not compared with each other. */
static void add_comparisons(cJSON *out, const race *r)
{
    cJSON *list = js_array(out, "comparisons");
    for (int i = 0; i < r->n_candidates; i++)
        for (int k = i + 1; k < r->n; k++)
            if (r->of[i].standing == IN_RACE && r->of[k].standing == IN_RACE)
                add_comparison(list, r, &r->of[i], &r->of[k]);
}

/* ---- the whole ---- */

static void add_step(cJSON *dims, const train_options *w, const cJSON *facts)
{
    char text[64];
    snprintf(text, sizeof text, "train=%s", w->task);
    js_item(dims, text);
    snprintf(text, sizeof text, "batch=%lld", (long long)w->batch);
    js_item(dims, text);
    if (js_get(facts, "length") == NULL) /* of images */
        return;
    snprintf(text, sizeof text, "length=%lld", (long long)w->length);
    js_item(dims, text);
}

static void add_model(cJSON *out, const race *r)
{
    cJSON *model = js_object(out, "model");
    js_text(model, "name", r->o.model);
    js_text(model, "hash", js_get_text(r->judge.facts, "hash"));
    cJSON *dims = js_array(model, "dims");
    for (int i = 0; i < r->o.n_dims; i++)
        js_item(dims, r->o.dims[i]);
    if (r->o.train != NULL)
        add_step(dims, r->o.train, r->judge.facts);
    const char *const list[] = {"inputs", "outputs"};
    for (int i = 0; i < 2; i++) {
        cJSON *ports = cJSON_Duplicate(js_get(r->judge.facts, list[i]), true), *port;
        cJSON_ArrayForEach(port, ports)
        {
            if (strncmp(js_get_text(port, "path"), r->dir, strlen(r->dir)) == 0)
                cJSON_DeleteItemFromObjectCaseSensitive(port, "path"); /* drawn from the seed */
        }
        cJSON_AddItemToObject(model, list[i], ports);
    }
}

static void add_config(cJSON *out, const race *r)
{
    cJSON *v = js_object(out, "config");
    js_text(v, "model", r->o.model);
    js_text(v, "target", r->o.target);
    js_text(v, "isa", r->o.isa);
    js_number(v, "threads", r->o.threads);
    js_flag(v, "as_written", r->o.as_written);
    js_number(v, "min_time_s", r->o.min_time > 0 ? r->o.min_time : NAN);
    js_number(v, "launches", r->o.launches);
    js_number(v, "rounds", r->rounds);
    js_number(v, "threshold", r->o.threshold);
    js_number(v, "confidence", 0.99);
    js_number(v, "tolerance", r->o.tolerance > 0 ? r->o.tolerance : NAN);
    js_number(v, "timeout_s", r->o.timeout);
    js_number(v, "seed", (double)r->o.seed);
}

static void note(cJSON *list, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void note(cJSON *list, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    js_item(list, text);
}

static void note_once(cJSON *list, const char *line)
{
    const cJSON *n;
    cJSON_ArrayForEach(n, list)
    {
        if (strcmp(n->valuestring, line) == 0)
            return;
    }
    js_item(list, line);
}

/* What a person should know before the verdict: rules that decide nothing, a cache that cannot be written. */
static void note_plan(cJSON *list, const cJSON *plan)
{
    char line[512];
    const cJSON *n;
    cJSON_ArrayForEach(n, js_get(plan, "notes")) note_once(list, n->valuestring);
    for (const char *at = js_get_text(plan, "build/notes"); *at != 0; at += strcspn(at, "\n"), at += *at == '\n') {
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        note_once(list, line);
    }
}

static void add_notes(cJSON *out, const race *r, double usual)
{
    static const double much_stolen = 0.02;
    cJSON *list = js_array(out, "notes");
    int n = r->start[r->o.launches], all = 0, flagged = 0, taken = 0, aside = 0;
    for (int i = 0; i < r->n; i++) {
        tally t = tally_of(r, &r->of[i], usual);
        series s = samples_of(r, &r->of[i], &r->of[i]);
        all += t.all;
        flagged += t.canary;
        taken += t.taken;
        aside += s.aside;
        series_free(&s);
    }
    if (all > 0 && r->few_samples)
        note(list, "%d samples each: too few to decide small differences; 30 are wanted (--min-time)", n);
    if (all > 0 && r->o.launches < 3)
        note(list,
             "%d launch%s: how much launches differ is not known, so intervals are too narrow; 5 are wanted "
             "(--launches)",
             r->o.launches, r->o.launches == 1 ? "" : "es");
    if (flagged > 0)
        note(list, "%d of %d samples flagged (canary more than 0.5 %% above its median); kept", flagged, all);
    if (taken > 0)
        note(list, "%d of %d samples lost a processor to another process meanwhile; %d of them are set aside%s", taken,
             all, aside, aside < taken ? ", the others kept because too few would be left: the machine is busy" : "");
    for (int i = 0; i < r->n; i++)
        if (r->of[i].standing == IN_RACE && *r->of[i].unverified != 0)
            note(list, "%.60s is timed, its outputs are not compared: %s", r->of[i].name, r->of[i].unverified);
    for (int i = 0; i < r->n_candidates; i++)
        note_plan(list, js_get(r->of[i].facts, "plan"));
    double stolen = stolen_share(r->ticks_before, r->ticks_after);
    if (stolen > much_stolen)
        note(list, "other guests took %.1f %% of the processor time meanwhile", 100 * stolen);
    if (strcmp(js_get_text(out, "environment/tool/build"), "release") != 0)
        note(list, "this is a %s build: its times mean little", js_get_text(out, "environment/tool/build"));
}

static cJSON *environment_of(const race *r)
{
    const char *isa = r->o.isa;
    for (int i = 0; i < r->n_candidates && isa == NULL; i++)
        if (*js_get_text(r->of[i].facts, "plan/isa") != 0)
            isa = js_get_text(r->of[i].facts, "plan/isa");
    cJSON *v = environment_read(isa, r->o.threads, r->o.seed);
    js_number(v, "steal_share", stolen_share(r->ticks_before, r->ticks_after));
    cJSON *pinned = js_array(v, "pinned_to");
    for (int i = 0; i < r->o.threads; i++)
        cJSON_AddItemToArray(pinned, cJSON_CreateNumber(r->cpus.cpu[i]));
    return v;
}

char *results_print(const race *r)
{
    cJSON *out = cJSON_CreateObject();
    double usual = usual_canary(r);
    js_text(out, "format", "results/1");
    js_text(out, "tool", "tessera " TS_VERSION);
    if (r->o.repro != NULL)
        js_text(out, "repro", r->o.repro);
    add_config(out, r);
    add_model(out, r);
    cJSON_AddItemToObject(out, "environment", environment_of(r));
    cJSON_AddItemToObject(out, "ceilings", cJSON_Duplicate(r->ceilings, true));
    cJSON *candidates = js_array(out, "candidates"), *peers = js_array(out, "peers");
    for (int i = 0; i < r->n; i++)
        add_contestant(i < r->n_candidates ? candidates : peers, r, &r->of[i], usual);
    add_comparisons(out, r);
    add_notes(out, r, usual);
    char *text = js_print(out, false);
    cJSON_Delete(out);
    return text;
}
