/* forecast.c - a step's time and memory by the number of ranks. */
#include "train/forecast.h"

#include "graph/base/base.h"
#include "train/shards.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double PAYS = 0.9; /* twice the ranks take at most this part of the time */

/* Of the kernels of a plan, as it predicts them; NULL: it does not. */
static double *predicted_make(const cJSON *plan, int *n, ts_error *e)
{
    const cJSON *kernels = js_get(plan, "kernels"), *k;
    double *out = heap_array((size_t)(*n = cJSON_GetArraySize(kernels)) + 1, sizeof *out);
    bool ok = true;
    int i = 0;
    cJSON_ArrayForEach(k, kernels)
    {
        out[i] = 1e-9 * js_get_number(k, "predicted/time_ns", NAN);
        ok = ok && isfinite(out[i++]);
    }
    if (ok)
        return out;
    err_set(e, TS_UNSUPPORTED, "explain --ranks: target %s predicts no times of kernels", js_get_text(plan, "target"));
    err_hint(e, "--target c does; a run of the same target that has trained a few steps has measured them");
    return free(out), NULL;
}

/* As steps of the run took them, where its kernels have the loops of this plan; medians are of all runs of a step. */
static double *measured_make(const cJSON *plan, const char *run, int *n)
{
    enum { MOST = 1 << 28 };
    char path[4200];
    ENDED_BY(text_free) text all = {0};
    err none = {0};
    snprintf(path, sizeof path, "%s/step.json", run);
    ENDED_BY(js_free) cJSON *kept = file_read(path, MOST, &all, &none) ? js_parse(text_str(&all), path, &none) : NULL;
    const cJSON *then = js_get(cJSON_GetArrayItem(js_get(kept, "candidates"), 0), "kernels"),
                *now = js_get(plan, "kernels"), *k;
    *n = cJSON_GetArraySize(now);
    double *out = cJSON_GetArraySize(then) == *n ? calloc((size_t)*n + 1, sizeof *out) : NULL;
    int i = 0;
    then = out ? then : NULL;
    cJSON_ArrayForEach(k, then)
    {
        const cJSON *own = cJSON_GetArrayItem(now, i);
        const double calls = js_get_number(k, "calls", NAN) / js_get_number(own, "calls", 1);
        out[i] = 1e-9 * js_get_number(k, "median_ns", NAN) / calls;
        if (strcmp(js_get_text(k, "loops"), js_get_text(own, "loops")) != 0 || !(out[i] >= 0 && out[i] < INFINITY)) {
            free(out), out = NULL;
            break;
        }
        i++;
    }
    return out;
}

/* Seconds that a byte takes from memory, by the machine's record. */
static double byte_seconds(const ts_options *o, ts_error *e)
{
    ENDED_BY(heap_free) char *facts = ts_machine_json(o, e);
    ENDED_BY(js_free) cJSON *m = facts ? js_parse(facts, "the machine", e) : NULL;
    const double rate = js_get_number(m, "rates/memory_bytes_per_cycle", 0) * js_get_number(m, "rates/clock_mhz", 0);
    return rate > 0 ? 1e-6 / rate : 0;
}

typedef struct costs {
    exchange_model model; /* of a rank that has its cores alone */
    double shard, update; /* seconds: of one shard's plan; of the update of own pieces */
    double arena, weights;
    int threads;
} costs;

/* Seconds of a rank's core: what goes between ranks that share cores is copied by these, into memory that both have and
 * out of it, and of a byte so copied one is read and one written. Where a core is left over, that one does it. */
static double copying(const costs *c, const forecast *w, int count, double size, double byte)
{
    enum { COPIES = 2, TOUCHED = 2 };
    const bool shared = count > 1 && w->core > 0 && count * c->threads >= w->core;
    return shared ? COPIES * TOUCHED * (1 - 1.0 / count) * size * byte : 0;
}

/* In the order of step_shard, step_join and what follows there. */
static void add_row(const step *s, const forecast *w, const costs *c, int count, cJSON *list)
{
    const shards *z = s->shards;
    const ranks r = {.count = count};
    const double own = (double)z->n / count, crowd = w->core > 0 ? fmax(1, count * c->threads / w->core) : 1;
    const double flat = (double)z->flat * sizeof(float), all = (double)s->asked->accumulate;
    exchange_model m = c->model;
    step_result x = {0}, round = {0};
    double kept;
    m.own = z->n / count, m.byte *= crowd, m.crowd = crowd;
    exchange_foretell_round(s, &r, &m, &round);
    m.busy = s->asked->accumulate > 1 ? 0 : m.busy; /* of several batches, the last one's sums wait for no weights */
    exchange_foretell(s, &r, &m, &x);
    const double told = ranks_seconds(&r, (size_t)((own + 1) * count) * sizeof(double), &m.net) +
                        ranks_seconds(&r, (size_t)(z->n * s->n_parameter) * sizeof(double), &m.net), /* losses, norms */
        climbs = own > 2 ? own / 2 - shards_levels(m.own) : 0,
                 batch = own * c->shard * crowd + climbs * 3 * flat * m.byte + x.waited + flat / count * m.byte + told;
    const double copied = (all + 1) * copying(c, w, count, flat, m.byte); /* sums of each batch, and weights */
    const double seconds = all * batch + c->update * crowd * z->ranks->count / count + round.waited + copied,
                 exchanged = all * x.exchanged + round.exchanged,
                 waited = all * (count > 1 ? x.waited : 0) + round.waited,
                 takes = c->arena + c->weights + shards_bytes(s, m.own, &kept);
    js_row(list,
           "ranks:%d,by_core:%g,step_ns:%g,exchange_ns:%g,exposed_ns:%g,hidden:%g,share:%g,step_bytes:%g,"
           "optimizer_bytes:%g",
           count, crowd, 1e9 * seconds, 1e9 * exchanged, 1e9 * waited, exchanged > waited ? 1 - waited / exchanged : 0,
           (waited + all * told) / seconds, takes, kept);
}

/* Where times end to fall: the fastest, and the last number that pays. */
static void add_ends(cJSON *root)
{
    double first = 0, before = INFINITY, least = INFINITY;
    int fastest = 1, pays = 1;
    bool goes_on = true;
    cJSON *row;
    cJSON_ArrayForEach(row, js_get(root, "rows"))
    {
        const double t = js_get_number(row, "step_ns", 0), n = js_get_number(row, "ranks", 1);
        first = first > 0 ? first : t;
        js_number(row, "efficiency", first / t / n);
        if (t < least)
            least = t, fastest = (int)n;
        goes_on = goes_on && t <= PAYS * before;
        pays = goes_on ? (int)n : pays;
        before = t;
    }
    js_put(root, "fastest:%d,pays:%d", fastest, pays);
}

static bool find_costs(const step *s, const ts_options *o, const char *run, costs *c, cJSON *root, ts_error *e)
{
    cJSON *plan = plan_facts(s->plan, e), *update = plan ? plan_facts(s->shards->plan[UPDATE][0], e) : NULL;
    int n = 0, more = 0;
    double *kernel = update ? measured_make(plan, run, &n) : NULL, *last = NULL;
    js_put(root, "target:%s,measured:%i", js_get_text(plan, "target"), kernel != NULL);
    kernel = kernel || !update ? kernel : predicted_make(plan, &n, e);
    last = kernel ? predicted_make(update, &more, e) : NULL;
    for (int i = 0; last && i < n; i++)
        c->shard += kernel[i];
    for (int i = 0; last && i < more; i++)
        c->update += last[i];
    c->threads = (int)js_get_number(plan, "threads", 1);
    c->arena = js_get_number(plan, "memory/arena_bytes", 0),
    c->weights = js_get_number(plan, "memory/weights_bytes", 0);
    c->model.kernel = kernel, c->model.n_kernel = n, c->model.byte = last ? byte_seconds(o, e) : 0;
    c->model.update = last, c->model.n_update = more;
    cJSON_Delete(plan), cJSON_Delete(update);
    return more >= 0 && !e->code;
}

cJSON *forecast_make(const step *s, const forecast *w, const ts_options *o, const char *run, ts_error *e)
{
    costs c = {.model = {.net = w->net}};
    if (!s->shards) {
        err_set(e, TS_USAGE, "explain --ranks: the run in '%s' has one shard, which no ranks can share", run);
        return err_hint(e, "tessera train MODEL --shards 8 -o RUN begins one that they can"), NULL;
    }
    cJSON *root = cJSON_CreateObject();
    js_put(root, "format:%s,shards:%d,cores:%g,latency_ns:%g,bytes_per_s:%g", "ranks/1", (int)s->shards->n, w->core,
           1e9 * w->net.latency, w->net.bandwidth);
    const bool ok = find_costs(s, o, run, &c, root, e);
    cJSON *list = ok ? js_array(root, "rows") : NULL;
    for (int n = 1; ok && n <= w->most && n <= s->shards->n; n *= 2)
        add_row(s, w, &c, n, list);
    if (ok)
        add_ends(root), js_put(root, "limit:%i", w->most > s->shards->n);
    free(c.model.kernel), free(c.model.update);
    if (!ok)
        cJSON_Delete(root), root = NULL;
    return root;
}
