/* generate.c - a trained language model continues a text. */
#include "graph/base/err.h"
#include "graph/base/random.h"
#include "graph/base/clock.h"
#include "train/ask.h"
#include "train/decode.h"
#include "train/order.h"
#include "train/task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct writer {
    const generating *how;
    const ts_tokenizer *tokenizer;
    generated *made;
    int64_t n, *id; /* prompt and what was made */
    int64_t prompt; /* tokens of it */
    int64_t end;    /* the token that ends texts; -1: none */
    size_t told;    /* bytes */
} writer;

static bool one_token(writer *w, decoder *d, ts_error *e)
{
    if (!decoder_next(d, w->id, w->n, e))
        return false;
    const uint64_t bits = random_bits(0, w->how->seed * 1000003u + (uint64_t)w->made->tokens);
    const int64_t id = sample_token(&w->how->sampling, d->logit, d->classes, (double)(bits >> 11) * 0x1p-53);
    if (id < 0)
        return err_memory(e, (size_t)d->classes * sizeof(double), "the likeliest of %lld tokens",
                          (long long)d->classes);
    w->made->ended = id == w->end;
    if (!w->made->ended)
        w->id[w->n++] = id, w->made->tokens++;
    return true;
}

static bool tell(writer *w, ts_error *e)
{
    size_t n;
    char *text = ts_tokenizer_decode(w->tokenizer, w->id + w->prompt, w->n - w->prompt, &n);
    if (!text)
        return err_memory(e, 0, "the text of %lld tokens", (long long)(w->n - w->prompt));
    if (n > w->told)
        w->how->tell(w->how->user, text + w->told, n - w->told), w->told = n;
    ts_free(text);
    return true;
}

static bool check_prompt(const writer *w, const decoder *d, ts_error *e)
{
    const int64_t vocabulary = d->judge.net.vocabulary;
    for (int64_t i = 0; i < w->n; i++)
        if (vocabulary && w->id[i] >= vocabulary)
            return err_set(e, TS_BAD_INPUT, "token %lld of the prompt is %lld, the model has %lld", (long long)i,
                           (long long)w->id[i], (long long)vocabulary);
    if (w->n <= d->length)
        return true;
    err_set(e, TS_BAD_INPUT, "the prompt has %lld tokens, the window of the run has %lld", (long long)w->n,
            (long long)d->length);
    return err_hint(e, "give its last %lld, or train with a longer --length", (long long)d->length);
}

static bool continue_text(writer *w, decoder *d, ts_error *e)
{
    double first = seconds_now();
    bool good = check_prompt(w, d, e);
    while (good && w->made->tokens < w->how->tokens && !w->made->ended) {
        if (w->n == d->length + 1 && d->step)
            snprintf(w->made->note, sizeof w->made->note,
                     "the window of %lld tokens is full: from here on its first token is left out and every token runs "
                     "all of it",
                     (long long)d->length);
        good = one_token(w, d, e) && (w->made->ended || tell(w, e));
        if (w->made->tokens == 1)
            first = seconds_now();
    }
    w->made->seconds = seconds_now() - first;
    if (*d->note)
        snprintf(w->made->note, sizeof w->made->note, "%s", d->note);
    return good;
}

/* The token that ends a text, by the names that it has. */
static int64_t end_token(const ts_tokenizer *t)
{
    static const char *const name[] = {"<|endoftext|>", "</s>", "<|end_of_text|>", "<|im_end|>", "<eos>", "[EOS]"};
    int64_t id = -1;
    for (size_t i = 0; i < sizeof name / sizeof *name && id < 0; i++)
        id = ts_tokenizer_id(t, name[i]);
    return id;
}

static bool begin(writer *w, const char *run, const asked *a, ts_error *e)
{
    if (!task_of(&a->weights.asked)->stream) {
        err_set(e, TS_USAGE, "the run in '%s' is of --task %s: it continues no text", run, a->weights.asked.task);
        return err_hint(e, "tessera predict says what it makes of one");
    }
    int64_t *id = ts_tokenizer_encode(a->tokenizer, w->how->prompt, strlen(w->how->prompt), false, &w->n);
    w->id = id ? calloc((size_t)(w->n + w->how->tokens) + 1, sizeof *w->id) : NULL;
    if (w->id)
        memcpy(w->id, id, (size_t)w->n * sizeof *id);
    ts_free(id);
    if (!w->id)
        return err_memory(e, ((size_t)(w->n + w->how->tokens) + 1) * sizeof *w->id,
                          "the prompt and %lld tokens behind it", (long long)w->how->tokens);
    w->prompt = w->n, w->end = end_token(a->tokenizer);
    if (w->n)
        return true;
    err_set(e, TS_USAGE, "the prompt has no token");
    return err_hint(e, "--prompt TEXT gives what is to be continued");
}

bool run_generate(const char *run, const generating *how, const ts_options *o, asked *out, generated *made, ts_error *e)
{
    *out = (asked){.verdict = {.n = 0}};
    *made = (generated){.tokens = 0};
    if (!run_weights_read(run, &out->weights, e))
        return false;
    out->tokenizer = train_tokenizer_make(&out->weights.asked, e);
    if (e->code)
        return false;
    writer w = {.how = how, .tokenizer = out->tokenizer, .made = made};
    decoder d = {.note = ""};
    const bool good = begin(&w, run, out, e) && decoder_make(&d, &out->weights, how->recompute, o, e) &&
                      continue_text(&w, &d, e);
    decoder_free(&d);
    free(w.id);
    return good;
}
