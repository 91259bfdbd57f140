/* generate.c - a trained language model continues a text. The window is as long as in training; when it is full, its
 * first token is dropped for every new one. */
#include "bench/failure.h"
#include "bench/train/ask.h"
#include "bench/train/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct writer {
    const generating *how;
    const ts_tokenizer *tokenizer;
    int64_t n, made, *id; /* prompt and what was made: n tokens, of which the last `made` are new */
    size_t told;          /* bytes */
} writer;

/* The place in a row of `count` logits that u in [0, 1) falls on. */
static int64_t drawn(const ts_array *y, int64_t first, int64_t count, double temperature, double u)
{
    int64_t best = 0, k = 0;
    double sum = 0;
    for (int64_t i = 1; i < count; i++)
        if (ts_array_at(y, first + i) > ts_array_at(y, first + best))
            best = i;
    if (temperature <= 0)
        return best;
    const double most = ts_array_at(y, first + best);
    for (int64_t i = 0; i < count; i++)
        sum += exp((ts_array_at(y, first + i) - most) / temperature);
    for (double left = u * sum; k < count - 1; k++)
        if ((left -= exp((ts_array_at(y, first + k) - most) / temperature)) < 0)
            break;
    return k;
}

static bool one_token(writer *w, judge *j, data *window, ts_array *all, ts_error *e)
{
    const net *n = &j->net;
    const int64_t kept = w->n < n->length ? w->n : n->length;
    ts_array y = {0};
    for (int64_t i = 0; i < n->length; i++)
        window->text.id[i] = i < kept ? (int32_t)w->id[w->n - kept + i] : 0;
    bool good = net_arrays(n, window, &(int64_t){0}, 1, all, e) && net_set(n, j->plan, all, e) &&
                ts_plan_run(j->plan, e) && ts_plan_get(j->plan, 0, &y, e);
    for (int i = 0; i < net_n_arrays(n); i++)
        ts_array_free(&all[i]);
    if (good) {
        const int64_t classes = ts_array_count(&y) / n->length;
        const uint64_t bits = splitmix64(w->how->seed * 1000003u + (uint64_t)w->made);
        w->id[w->n++] = drawn(&y, (kept - 1) * classes, classes, w->how->temperature, (double)(bits >> 11) * 0x1p-53);
        w->made++;
    }
    ts_array_free(&y);
    return good;
}

static bool tell(writer *w, ts_error *e)
{
    size_t n;
    char *text = ts_tokenizer_decode(w->tokenizer, w->id + w->n - w->made, w->made, &n);
    if (!text)
        return bench_fail(e, TS_MEMORY, "no memory for the text");
    if (n > w->told)
        w->how->tell(w->how->user, text + w->told, n - w->told), w->told = n;
    ts_free(text);
    return true;
}

static bool continue_text(writer *w, judge *j, ts_error *e)
{
    ts_array *all = calloc((size_t)net_n_arrays(&j->net), sizeof *all);
    data window = {.n = j->net.length + 1, .text.id = calloc((size_t)j->net.length + 1, sizeof *window.text.id)};
    bool good = (all && window.text.id) || bench_fail(e, TS_MEMORY, "no memory for the window");
    for (int64_t i = 0; good && i < w->n; i++)
        if (j->net.vocabulary && w->id[i] >= j->net.vocabulary)
            good = bench_fail(e, TS_BAD_INPUT, "token %lld of the prompt is %lld, the model has %lld", (long long)i,
                              (long long)w->id[i], (long long)j->net.vocabulary);
    while (good && w->made < w->how->tokens)
        good = one_token(w, j, &window, all, e) && tell(w, e);
    free(all), free(window.text.id);
    return good;
}

static bool begin(writer *w, const char *run, const asked *a, ts_error *e)
{
    if (strcmp(a->weights.wish.task, "lm") != 0) {
        bench_fail(e, TS_USAGE, "the run in '%s' is of --task %s: it continues no text", run, a->weights.wish.task);
        return bench_hint(e, "tessera predict says what it makes of one");
    }
    int64_t *id = ts_tokenizer_encode(a->tokenizer, w->how->prompt, strlen(w->how->prompt), false, &w->n);
    w->id = id ? calloc((size_t)(w->n + w->how->tokens) + 1, sizeof *w->id) : NULL;
    if (w->id)
        memcpy(w->id, id, (size_t)w->n * sizeof *id);
    ts_free(id);
    if (!w->id)
        return bench_fail(e, TS_MEMORY, "no memory for the prompt");
    if (w->n)
        return true;
    bench_fail(e, TS_USAGE, "the prompt has no token");
    return bench_hint(e, "--prompt TEXT gives what is to be continued");
}

bool run_generate(const char *run, const generating *how, const ts_options *o, asked *out, ts_error *e)
{
    *out = (asked){.verdict = {.n = 0}};
    if (!run_weights_read(run, &out->weights, e))
        return false;
    out->tokenizer = train_tokenizer(&out->weights.wish, e);
    if (e->code)
        return false;
    const run_weights *from = &out->weights;
    writer w = {.how = how, .tokenizer = out->tokenizer};
    judge j = {.plan = NULL};
    const data one = {.n = 1};
    const bool good = begin(&w, run, out, e) &&
                      judge_make(&j, &from->wish, &one, from->classes, from->n, from->all, o, e) &&
                      continue_text(&w, &j, e);
    judge_free(&j);
    free(w.id);
    return good;
}
