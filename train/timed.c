/* timed.c - batches drawn from a seed, so that what is timed is the step and not its data. */
#include "train/timed.h"
#include "train/task.h"

#include "graph/base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- inputs that text cannot fill ---- */
enum { MOST_DIMS = 64 }; /* dimensions of a model that can be bound */

/* By the dimensions that --dim names, and the one that walks the examples. */
static bool bind_batch(const train_options *w, ts_model *m, ts_error *e)
{
    ts_port first = {.name = ""};
    const char *all[MOST_DIMS];
    char batch[300];
    ENDED_BY(heap_free) char *own = NULL;
    int n = option_lines_make(w->dims, MOST_DIMS - 1, all, &own);
    ts_model_input(m, 0, &first);
    bool named = first.rank < 1 || first.dim[0] >= 0 || !first.symbol[0];
    for (int i = 0; i < n; i++)
        named = named || option_names(all[i], first.symbol[0]);
    if (!named) {
        snprintf(batch, sizeof batch, "%.256s=%lld", first.symbol[0], (long long)(w->batch / w->shards));
        all[n++] = batch;
    }
    return ts_model_bind(m, n, all, NULL, e);
}

/* Arrays of a batch as the model takes them, not filled yet. */
static bool make_arrays(timed_step *t, ts_model *m, ts_error *e)
{
    const train_options *w = &t->asked;
    data *d = &t->data;
    ts_port p;
    bool ok = bind_batch(w, m, e);
    if (ok && ts_model_inputs(m) > MOST_ARRAYS)
        ok = err_set(e, TS_UNSUPPORTED, "the model has %d inputs, at most %d can be drawn", ts_model_inputs(m),
                     MOST_ARRAYS);
    for (int i = 0; ok && ts_model_input(m, i, &p); i++) {
        if (p.rank > 0)
            p.dim[0] = w->batch / w->shards;
        ok = ts_array_make(&d->array[i], p.dtype, p.rank, p.dim, e);
        d->name[d->n_array++] = strdup(p.name);
    }
    d->n = w->batch / w->shards;
    return ok;
}

/* A model over text takes integers [batch, sequence]. */
static bool takes_text(ts_model *m)
{
    ts_port p;
    for (int i = 0; ts_model_input(m, i, &p); i++)
        if (p.rank == 2 && (p.dtype == TS_I64 || p.dtype == TS_I32))
            return true;
    return false;
}

static bool is_of_arrays(const train_options *w, ts_error *e)
{
    if (task_of(w)->labels)
        return true;
    err_set(e, TS_USAGE, "--task %s is for texts, and the model takes none", w->task);
    return err_hint(e, "--task classify and --task regress are for arrays");
}

bool timed_open(timed_step *t, const cJSON *asked, const char *model, ts_error *e)
{
    train_options *w = &t->asked;
    option_make(w);
    if (!option_read(w, asked, "the step to be timed", e))
        return false;
    option_set_text(&w->model, model);
    ts_model *m = ts_model_open(model, e);
    bool ok = m != NULL;
    if (ok && !takes_text(m)) {
        option_set_text(&w->data, "drawn=drawn.npy"); /* a run of it would be on arrays */
        ok = is_of_arrays(w, e) && make_arrays(t, m, e);
    }
    ts_model_free(m);
    return ok && net_make(&t->net, w, &t->data, w->batch / w->shards, w->labels ? w->labels : 2, e);
}

/* ---- a batch that nobody wrote ---- */
/* n numbers from 0 up to `below`, where that is not known 0 and 1. */
static int32_t *drawn(int64_t n, int64_t below, uint64_t seed, ts_error *e)
{
    ENDED_BY(ts_array_free) ts_array a = {0};
    int32_t *out = NULL;
    if (ts_array_make(&a, TS_I32, 1, &n, e) && (out = calloc((size_t)n + 1, sizeof *out))) {
        ts_array_random(&a, seed, below > 0 ? below : 2);
        for (int64_t i = 0; i < n; i++)
            out[i] = ((const int32_t *)a.data)[i];
    }
    return out;
}

/* `rows` texts of full length: no work is left out because of padding. */
static bool draw_texts(tokens *out, int64_t rows, int64_t length, const net *n, uint64_t seed, ts_error *e)
{
    out->at = calloc((size_t)rows + 1, sizeof *out->at);
    out->id = drawn(rows * length, n->vocabulary, seed, e);
    for (int64_t i = 0; out->at && i <= rows; i++)
        out->at[i] = i * length;
    return (out->at && out->id) || e->code ||
           err_memory(e, ((size_t)rows + 1) * sizeof *out->at, "%lld drawn texts", (long long)rows);
}

static bool draw_data(timed_step *t, uint64_t seed, ts_error *e)
{
    const net *n = &t->net;
    data *d = &t->data;
    /* a stream's rows follow each other; its last token is a label only */
    const int64_t length = n->stream ? n->length + 1 : n->length;
    int32_t *label = drawn(n->batch, n->classes, seed + 1, e);
    d->label = calloc((size_t)n->batch, sizeof *d->label);
    for (int64_t i = 0; label && d->label && i < n->batch; i++)
        d->label[i] = label[i];
    free(label);
    if (!d->label)
        return e->code || err_memory(e, (size_t)n->batch * sizeof *d->label, "%lld labels", (long long)n->batch);
    d->n = n->batch;
    for (int i = 0; i < d->n_array; i++)
        ts_array_random(&d->array[i], seed + 2 + (uint64_t)i, n->feed[i].port.below);
    if (d->n_array)
        return true;
    return draw_texts(&d->text, n->batch, length, n, seed + 2, e) &&
           (n->rows == n->batch || draw_texts(&d->second, n->batch, length, n, seed + 3, e));
}

bool timed_draw(timed_step *t, uint64_t seed, ts_error *e)
{
    const net *n = &t->net;
    ENDED_BY(heap_free) int64_t *which = heap_array((size_t)n->batch, sizeof *which);
    for (int64_t i = 0; i < n->batch; i++)
        which[i] = n->stream ? i * n->length : i;
    return draw_data(t, seed, e) && !e->code && net_arrays(n, &t->data, which, n->batch, t->batch, e);
}

/* ---- the step ---- */
bool timed_plan(timed_step *t, const ts_options *o, ts_error *e)
{
    return step_make(&t->step, &t->net, &(step_span){TIMED_SCHEDULE, 0}, t->ranks, o, e);
}

bool timed_begin(timed_step *t, ts_error *e)
{
    t->at = 0;
    return step_begin(&t->step, e);
}

const char *const timed_output[TIMED_OUTPUTS] = {"loss", "grad_norm"};

bool timed_step_run(timed_step *t, step_result *r, ts_error *e)
{
    const int64_t at = t->at++, n = t->asked.shards, own = t->ranks ? n / t->ranks->count : n;
    bool ok = true;
    if (n == 1)
        return step_run(&t->step, &t->net, t->batch, at, r, e);
    for (int64_t i = 0; ok && i < own; i++)
        ok = step_shard(&t->step, &t->net, t->batch, at * n + t->ranks->rank * own + i, r, e);
    return ok && step_join(&t->step, at, r, e);
}

bool timed_run(timed_step *t, double out[TIMED_OUTPUTS], ts_error *e)
{
    step_result r = {0};
    const bool ok = timed_step_run(t, &r, e);
    out[0] = r.loss, out[1] = r.norm;
    return ok;
}

void timed_close(timed_step *t)
{
    net_arrays_free(&t->net, t->batch);
    step_free(&t->step);
    net_free(&t->net);
    data_free(&t->data);
    option_free(&t->asked);
}
