#include "bench/train/timed.h"

#include "bench/failure.h"

#include <stdlib.h>

enum { SCHEDULE = 1000 }; /* steps that the run would have: its first one is timed again and again */

bool timed_open(timed_step *t, const cJSON *wish, const char *model, ts_error *e)
{
    wish_init(&t->wish);
    if (!wish_read(&t->wish, wish, "the step to be timed", e))
        return false;
    wish_set_text(&t->wish.model, model);
    const train_wish *w = &t->wish;
    return net_make(&t->net, w, &t->data, w->batch, w->labels ? w->labels : 2, e);
}

/* ---- a batch that nobody wrote ---- */
/* n numbers from 0 up to `below`, where that is not known 0 and 1. */
static int32_t *drawn(int64_t n, int64_t below, uint64_t seed, ts_error *e)
{
    ts_array a = {0};
    int32_t *out = NULL;
    if (ts_array_make(&a, TS_I32, 1, &n, e) && (out = calloc((size_t)n + 1, sizeof *out))) {
        ts_array_random(&a, seed, below > 0 ? below : 2);
        for (int64_t i = 0; i < n; i++)
            out[i] = ((const int32_t *)a.data)[i];
    }
    ts_array_free(&a);
    return out;
}

/* `rows` texts of full length: no work is left out because of padding. */
static bool draw_texts(tokens *out, int64_t rows, int64_t length, const net *n, uint64_t seed, ts_error *e)
{
    out->at = calloc((size_t)rows + 1, sizeof *out->at);
    out->id = drawn(rows * length, n->vocabulary, seed, e);
    for (int64_t i = 0; out->at && i <= rows; i++)
        out->at[i] = i * length;
    return (out->at && out->id) || e->code || bench_fail(e, TS_MEMORY, "no memory for a batch");
}

static bool draw_data(timed_step *t, uint64_t seed, ts_error *e)
{
    const net *n = &t->net;
    data *d = &t->data;
    /* a stream's row is a token longer, its last one being a label only */
    const int64_t length = n->stream ? n->length + 1 : n->length;
    int32_t *label = drawn(n->batch, n->classes, seed + 1, e);
    d->label = calloc((size_t)n->batch, sizeof *d->label);
    for (int64_t i = 0; label && d->label && i < n->batch; i++)
        d->label[i] = label[i];
    free(label);
    if (!d->label)
        return e->code || bench_fail(e, TS_MEMORY, "no memory for a batch");
    d->n = n->batch;
    return draw_texts(&d->text, n->batch, length, n, seed + 2, e) &&
           (n->rows == n->batch || draw_texts(&d->second, n->batch, length, n, seed + 3, e));
}

bool timed_draw(timed_step *t, uint64_t seed, ts_error *e)
{
    const net *n = &t->net;
    int64_t *which = calloc((size_t)n->batch, sizeof *which);
    bool good = which || bench_fail(e, TS_MEMORY, "no memory for a batch");
    for (int64_t i = 0; good && i < n->batch; i++)
        which[i] = n->stream ? i * (n->length + 1) : i;
    good = good && draw_data(t, seed, e) && !e->code && net_arrays(n, &t->data, which, n->batch, t->batch, e);
    free(which);
    return good;
}

/* ---- the step ---- */
bool timed_plan(timed_step *t, const ts_options *o, ts_error *e)
{
    return step_make(&t->step, &t->net, SCHEDULE, 0, o, e);
}

bool timed_begin(timed_step *t, ts_error *e)
{
    return step_begin(&t->step, e);
}

const char *const timed_output[TIMED_OUTPUTS] = {"loss", "grad_norm"};

bool timed_run(timed_step *t, double out[TIMED_OUTPUTS], ts_error *e)
{
    step_result r = {0};
    const bool good = step_run(&t->step, &t->net, t->batch, 1, 0, &r, e);
    out[0] = r.loss, out[1] = r.norm;
    return good;
}

void timed_close(timed_step *t)
{
    for (int i = 0; t->net.model && i < net_n_arrays(&t->net); i++)
        ts_array_free(&t->batch[i]);
    step_free(&t->step);
    net_free(&t->net);
    data_free(&t->data);
    wish_free(&t->wish);
}
