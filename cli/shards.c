/* shards.c - a batch in parts: one plan for each device at the extent of a shard, a thread for each; or one plan over
 * all devices, through which shards go one behind the other. */
#include "cli/shards.h"
#include "cli/say.h"
#include "cli/trace.h"
#include "graph/base/base.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is cut ---- */
static ts_array part_of(const ts_array *whole, int n, int k)
{
    ts_array part = *whole;
    part.dim[0] /= n;
    if (whole->data)
        part.data = (char *)whole->data + (size_t)(ts_array_count(&part) * ts_dtype_bytes(part.dtype)) * (size_t)k;
    return part;
}

/* The dimension along which all inputs that have it are cut: the first one's first. */
static const char *batch_of(ts_model *m)
{
    ts_port port;
    return ts_model_input(m, 0, &port) && port.rank ? port.symbol[0] : NULL;
}

static bool no_batch(const session *s, ts_error *e)
{
    ts_port port;
    if (!ts_model_input(s->model, 0, &port))
        return err_set(e, TS_USAGE, "--shards: the model has no input whose batch could be cut");
    err_set(e, TS_USAGE, "--shards: the first axis of input \"%s\" is of a fixed extent, and cannot be cut", port.name);
    return err_hint(e, "export the model with a batch that is a named dimension, or leave --shards out");
}

/* Marks the inputs that have the batch; its extent, which is a multiple of the shards. 0: it is not. */
static int64_t find_cut(shard_run *r, const char *batch, ts_error *e)
{
    const session *s = r->session;
    const int64_t all = s->value[0].dim[0];
    for (int i = 0; i < s->n_inputs; i++) {
        ts_port port;
        ts_model_input(s->model, i, &port);
        r->cut[i] = port.rank && port.symbol[0] && strcmp(port.symbol[0], batch) == 0;
    }
    if (all && all % r->n == 0)
        return all;
    err_set(e, TS_USAGE, "--shards %d: the batch, dimension \"%s\", is of %lld, no multiple of it", r->n, batch,
            (long long)all);
    return err_hint(e, "give --dim %s=N or inputs with as many examples as a multiple of the shards", batch), 0;
}

/* The model at a shard's extent: the batch as the values of a shard have it, other dimensions as the command says. */
static bool bind_shard(const shard_run *r, const char *batch, int64_t all, ts_error *e)
{
    const session *s = r->session;
    ENDED_BY(heap_free) ts_array *part = heap_array((size_t)s->n_inputs + 1, sizeof *part);
    ENDED_BY(heap_free) const char **dims = heap_array((size_t)args_count(s->args, "dim") + 2, sizeof *dims);
    char own[256];
    int n = 0;
    for (int i = 0; i < s->n_inputs; i++)
        part[i] = r->cut[i] ? part_of(&s->value[i], r->n, 0) : s->value[i];
    for (int i = 0; i < args_count(s->args, "dim"); i++) {
        const char *pair = args_at(s->args, "dim", i);
        if (!word_is(batch, pair, strcspn(pair, "=")))
            dims[n++] = pair;
    }
    snprintf(own, sizeof own, "%s=%lld", batch, (long long)all / r->n);
    dims[n++] = own;
    return ts_model_bind(s->model, n, dims, part, e);
}

/* ---- making ---- */
static void ports_of(ts_model *m, int n, ts_port *out)
{
    for (int i = 0; i < n; i++)
        ts_model_output(m, i, &out[i]);
}

/* Of each output the whole is the shards' one behind the other. */
static bool make_room(shard_run *r, const ts_port *whole, ts_error *e)
{
    bool ok = true;
    for (int i = 0; ok && i < r->n_output; i++) {
        ts_port part;
        ts_model_output(r->session->model, i, &part);
        bool fits = whole[i].rank && part.rank == whole[i].rank && whole[i].dim[0] == r->n * part.dim[0];
        for (int d = 1; fits && d < part.rank; d++)
            fits = whole[i].dim[d] == part.dim[d];
        ok = fits || (err_set(e, TS_UNSUPPORTED, "--shards: output \"%s\" has no batch as its first axis", part.name),
                      err_hint(e, "run the model without --shards"));
        ok = ok && ts_array_make(&r->out[i], part.dtype, part.rank, whole[i].dim, e);
    }
    return ok;
}

static void free_plans(shard_run *r)
{
    for (int i = 0; r->plan && i < r->n_plan; i++)
        ts_plan_free(r->plan[i]), r->plan[i] = NULL;
}

static ts_plan *plan_for(const shard_run *r, const char *target, size_t length, ts_error *e)
{
    ts_options own = r->session->options;
    ENDED_BY(heap_free) char *name = target ? strndup(target, length) : NULL;
    ENDED_BY(heap_free) char *limits = sizes_make(own.mem_limit, own.target, name);
    own.target = name, own.mem_limit = limits;
    return ts_plan_make(r->session->model, &own, e);
}

static bool is_cut(ts_plan *p, bool *is, ts_error *e) /* it is over several devices, by rules */
{
    cJSON *root = reply_take(ts_plan_json(p, e), e);
    *is = js_get(root, "places") != NULL;
    cJSON_Delete(root);
    return root != NULL;
}

/* Each device a plan of the whole model; or one of all devices together, where rules cut the model, or one of them
 * cannot hold it. */
static bool make_plans(shard_run *r, ts_error *e)
{
    const char *all = r->session->options.target, *at = all;
    bool ok = true, cut = false;
    for (int i = 0; ok && !cut && i < r->n_plan; i++) {
        const size_t length = at ? strcspn(at, ",") : 0;
        ok = (r->plan[i] = plan_for(r, at, length, e)) && is_cut(r->plan[i], &cut, e);
        at = at && at[length] ? at + length + 1 : NULL;
    }
    cut = r->n_plan > 1 && (cut || (!ok && e->code == TS_MEMORY));
    if (cut) {
        *e = (ts_error){0};
        free_plans(r);
        r->n_plan = 1;
        ok = (r->plan[0] = plan_for(r, all, strlen(all), e)) != NULL;
    }
    for (int i = 0; ok && i < r->n_plan; i++)
        ok = ts_plan_build(r->plan[i], e);
    return ok;
}

bool shard_run_make(shard_run *r, session *s, int n, ts_error *e)
{
    *r = (shard_run){.session = s, .n = n, .n_plan = 1, .n_output = ts_model_outputs(s->model)};
    for (const char *at = s->options.target; at && (at = strchr(at, ',')); at++)
        r->n_plan++;
    if (r->n_plan > n)
        return err_set(e, TS_USAGE, "--target %s: %d devices cannot share --shards %d", s->options.target, r->n_plan,
                       n);
    r->cut = heap_array((size_t)s->n_inputs + 1, sizeof *r->cut);
    r->plan = heap_array((size_t)r->n_plan, sizeof(ts_plan *));
    r->out = heap_array((size_t)r->n_output + 1, sizeof *r->out);
    const char *symbol = batch_of(s->model);
    if (!symbol)
        return no_batch(s, e);
    ENDED_BY(heap_free) char *batch = strdup(symbol); /* ports are those of one binding */
    ENDED_BY(heap_free) ts_port *whole = heap_array((size_t)r->n_output + 1, sizeof *whole);
    ports_of(s->model, r->n_output, whole);
    const int64_t all = find_cut(r, batch, e);
    return all && bind_shard(r, batch, all, e) && make_room(r, whole, e) && make_plans(r, e);
}

void shard_run_free(shard_run *r)
{
    free_plans(r);
    for (int i = 0; r->out && i < r->n_output; i++)
        ts_array_free(&r->out[i]);
    free(r->cut), free(r->plan), free(r->out);
}

/* ---- running ---- */
typedef struct worker {
    shard_run *run;
    int device;
    bool ok;
    ts_error e;
} worker;

/* Shards first..end-1, one behind the other; traced: a file, or NULL. */
static bool run_row(const worker *w, int first, int end, const char *traced, ts_error *e)
{
    const shard_run *r = w->run;
    const session *s = r->session;
    const int n = end - first;
    ts_array *in = heap_array((size_t)n * (size_t)s->n_inputs + 1, sizeof *in),
             *out = heap_array((size_t)n * (size_t)r->n_output + 1, sizeof *out);
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < s->n_inputs; i++)
            in[k * s->n_inputs + i] = r->cut[i] ? part_of(&s->value[i], r->n, first + k) : s->value[i];
        for (int i = 0; i < r->n_output; i++)
            out[k * r->n_output + i] = part_of(&r->out[i], r->n, first + k);
    }
    const ts_pipeline runs = {.n = n, .in = in, .out = out};
    trace t = trace_make();
    const bool ok = traced ? trace_plan(&t, args_noun(s->args, 0), r->plan[w->device], &(trace_runs){&runs, 0}, e) &&
                                 trace_write(&t, traced, e)
                           : ts_plan_pipeline(r->plan[w->device], &runs, e);
    trace_free(&t), free(in), free(out);
    return ok;
}

static void *work(void *of)
{
    worker *w = of;
    const shard_run *r = w->run;
    const int first = r->first + r->count * w->device / r->n_plan,
              end = r->first + r->count * (w->device + 1) / r->n_plan;
    w->ok = first == end || run_row(w, first, end, NULL, &w->e);
    return NULL;
}

bool shard_run_some(shard_run *r, int from, int count, ts_error *e)
{
    r->first = from, r->count = count;
    ENDED_BY(heap_free) worker *w = heap_array((size_t)r->n_plan, sizeof *w);
    ENDED_BY(heap_free) pthread_t *thread = heap_array((size_t)r->n_plan, sizeof *thread);
    int n = 1;
    bool ok = true;
    for (int i = 0; i < r->n_plan; i++)
        w[i] = (worker){.run = r, .device = i};
    while (n < r->n_plan && pthread_create(&thread[n], NULL, work, &w[n]) == 0)
        n++;
    work(&w[0]);
    for (int i = 1; i < n; i++)
        pthread_join(thread[i], NULL);
    for (int i = n; i < r->n_plan; i++) /* where there are no more threads */
        work(&w[i]);
    for (int i = 0; ok && i < r->n_plan; i++)
        ok = w[i].ok || err_set(e, w[i].e.code, "%s", w[i].e.text);
    return ok;
}

bool shard_run_all(shard_run *r, const char *traced, ts_error *e)
{
    if (!traced)
        return shard_run_some(r, 0, r->n, e);
    if (r->n_plan == 1)
        return run_row(&(worker){.run = r}, 0, r->n, traced, e);
    err_set(e, TS_USAGE, "--trace: it is of one plan, and here each of %d devices has one", r->n_plan);
    return err_hint(e, "name one of them in --target, or cut the model over them by rules with \"place\"");
}
