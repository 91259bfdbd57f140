/* generate.c - a language model continues a text: that of a run, or a file as others export it. */
#include "graph/base/clock.h"
#include "graph/base/err.h"
#include "graph/base/random.h"
#include "train/ask.h"
#include "train/decode.h"
#include "train/task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct row { /* one text */
    int64_t n;       /* of its tokens: prompt and what was made */
    size_t told;     /* bytes */
    bool ended;
} row;
typedef struct writer {
    const generating *how;
    const ts_tokenizer *tokenizer;
    generated *made;
    bool file;
    row *row;
    int64_t n, cap, *id; /* tokens of the longest text; room for, and those of each text, cap apart */
    int64_t prompt;      /* tokens of it */
    int64_t end;         /* the token that ends texts; -1: none */
} writer;

/* A text that has ended goes on beside the others, and nobody looks. */
static bool one_token(writer *w, decoder *d, ts_error *e)
{
    if (!decoder_next(d, w->id, w->cap, w->n, e))
        return false;
    for (int64_t r = 0; r < w->how->batch; r++) {
        row *one = &w->row[r];
        const uint64_t bits = random_bits(w->how->seed, (uint64_t)r << 32 | (uint64_t)(w->n - w->prompt));
        const int64_t id = sample_token(&w->how->sampling, d->logit + r * d->classes, d->classes,
                                        (double)(bits >> 11) * 0x1p-53);
        if (id < 0)
            return err_memory(e, (size_t)d->classes * sizeof(double), "the likeliest of %lld tokens",
                              (long long)d->classes);
        one->ended = one->ended || id == w->end;
        w->id[r * w->cap + w->n] = id;
        if (!one->ended)
            one->n = w->n + 1, w->made->tokens++;
    }
    w->n++;
    return true;
}

static bool all_ended(const writer *w)
{
    for (int64_t r = 0; r < w->how->batch; r++)
        if (!w->row[r].ended)
            return false;
    return true;
}

/* Bytes of the text that later tokens do not change: neither a part of a character, nor what stands for one. */
static size_t settled(const char *s, size_t n)
{
    while (n >= 3 && memcmp(s + n - 3, "\xEF\xBF\xBD", 3) == 0)
        n -= 3;
    size_t k = n;
    while (k > 0 && n - k < 4 && ((unsigned char)s[k - 1] & 0xC0) == 0x80)
        k--;
    const unsigned char lead = k > 0 ? (unsigned char)s[k - 1] : 0;
    const size_t want = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    return k > 0 && n - k + 1 < want ? k - 1 : n;
}

static bool tell(writer *w, int64_t r, bool last, ts_error *e)
{
    row *one = &w->row[r];
    size_t n;
    ENDED_BY(heap_free)
    char *text = ts_tokenizer_decode(w->tokenizer, w->id + r * w->cap + w->prompt, one->n - w->prompt, &n);
    if (!text)
        return err_memory(e, 0, "the text of %lld tokens", (long long)(one->n - w->prompt));
    if (!last)
        n = settled(text, n);
    if (n > one->told || last)
        w->how->tell(w->how->user, r, text + (n > one->told ? one->told : n), n > one->told ? n - one->told : 0);
    one->told = n > one->told ? n : one->told;
    return true;
}

static bool check_prompt(const writer *w, const decoder *d, ts_error *e)
{
    for (int64_t i = 0; i < w->prompt; i++)
        if (d->vocabulary && w->id[i] >= d->vocabulary) {
            err_set(e, TS_BAD_INPUT, "token %lld of the prompt is %lld, the model has %lld", (long long)i,
                    (long long)w->id[i], (long long)d->vocabulary);
            return !w->file ? false : err_hint(e, "--tokenizer must name the one that the model was trained with");
        }
    if (w->prompt <= d->length)
        return true;
    err_set(e, TS_BAD_INPUT, "the prompt has %lld tokens, the window of the %s has %lld", (long long)w->prompt,
            w->file ? "model" : "run", (long long)d->length);
    return w->file ? err_hint(e, "give its last %lld", (long long)d->length)
                   : err_hint(e, "give its last %lld, or train with a longer --length", (long long)d->length);
}

static bool continue_text(writer *w, decoder *d, ts_error *e)
{
    const bool single = w->how->batch == 1;
    bool ok = check_prompt(w, d, e);
    double begin = seconds_now(), first = begin;
    while (ok && w->n - w->prompt < w->how->tokens && !all_ended(w)) {
        if (w->n == d->length + 1 && (d->step || d->cache.next)) {
            snprintf(w->made->note, sizeof w->made->note,
                     d->step ? "the window of %lld tokens is full: from here on its first token is left out and every "
                               "token runs all of it"
                             : "it ends here: --dim leaves room for %lld tokens",
                     (long long)d->length);
            if (d->cache.next)
                break;
        }
        ok = one_token(w, d, e) && (!single || w->row[0].ended || tell(w, 0, false, e));
        if (w->n == w->prompt + 1)
            first = seconds_now(), w->made->later = -w->made->tokens;
    }
    w->made->seconds = seconds_now() - first, w->made->prefill = first - begin;
    w->made->later += w->made->tokens, w->made->prompt = w->prompt, w->made->ended = all_ended(w);
    for (int64_t r = 0; ok && r < w->how->batch; r++)
        ok = tell(w, r, true, e);
    if (*d->note)
        snprintf(w->made->note, sizeof w->made->note, "%s", d->note);
    snprintf(w->made->said, sizeof w->made->said, "%s", d->cache.said);
    return ok;
}

/* The token that ends a text, by the names that it has. */
static int64_t end_token(const ts_tokenizer *t)
{
    static const char *const name[] = {"<|endoftext|>", "</s>", "<|end_of_text|>", "<|eot_id|>", "<|im_end|>",
                                       "<eos>",         "[EOS]"};
    int64_t id = -1;
    for (size_t i = 0; i < sizeof name / sizeof *name && id < 0; i++)
        id = ts_tokenizer_id(t, name[i]);
    return id;
}

/* A file's prompt has what the tokenizer puts before a text, but does not end. */
static bool begin(writer *w, const char *run, const asked *a, ts_error *e)
{
    if (!task_of(&a->weights.asked)->stream) {
        err_set(e, TS_USAGE, "the run in '%s' is of --task %s: it continues no text", run, a->weights.asked.task);
        return err_hint(e, "tessera predict says what it makes of one");
    }
    w->end = end_token(a->tokenizer);
    int64_t *id = ts_tokenizer_encode(a->tokenizer, w->how->prompt, strlen(w->how->prompt), w->file, &w->n);
    while (id && w->file && w->n && id[w->n - 1] == w->end)
        w->n--;
    w->cap = w->n + w->how->tokens + 1;
    w->id = id ? calloc((size_t)(w->cap * w->how->batch), sizeof *w->id) : NULL;
    w->row = calloc((size_t)w->how->batch, sizeof *w->row);
    for (int64_t r = 0; w->id && w->row && r < w->how->batch; r++)
        memcpy(w->id + r * w->cap, id, (size_t)w->n * sizeof *id), w->row[r].n = w->n;
    ts_free(id);
    if (!w->id || !w->row)
        return err_memory(e, (size_t)(w->cap * w->how->batch) * sizeof *w->id, "the prompt and %lld tokens behind it",
                          (long long)w->how->tokens);
    w->prompt = w->n;
    if (w->n)
        return true;
    err_set(e, TS_USAGE, "the prompt has no token");
    return err_hint(e, "--prompt TEXT gives what is to be continued");
}

/* Whether it is a model and no run: a built-in one, a file, or a folder with one. */
static bool is_model(const char *what)
{
    static const char *const inside[] = {"model.onnx", "graph.json"};
    char path[4200];
    struct stat st;
    if (net_is_built_in(what))
        return true;
    if (stat(what, &st) != 0 || !S_ISDIR(st.st_mode))
        return stat(what, &st) == 0;
    snprintf(path, sizeof path, "%s/run.json", what);
    if (stat(path, &st) == 0)
        return false;
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", what, inside[i]);
        if (stat(path, &st) == 0)
            return true;
    }
    return false;
}

static bool is_there(const char *what, ts_error *e)
{
    struct stat st;
    if (stat(what, &st) == 0)
        return true;
    err_set(e, TS_FILES, "there is no file or folder '%s'", what);
    return err_hint(
        e, "give the folder of a run that train wrote, or a model: a file, its folder, or the name of a built-in one");
}

static bool open_run(const char *what, const generating *how, run_weights *out, ts_error *e)
{
    if (!is_there(what, e) || !run_weights_read(what, out, e))
        return false;
    if (!how->tokenizer && !how->dims)
        return true;
    err_set(e, TS_USAGE, "--%s: the run in '%s' has its own", how->tokenizer ? "tokenizer" : "dim", what);
    return err_hint(e, "leave it out: it is for model files");
}

bool run_generate(const char *what, const generating *how, const ts_options *o, asked *out, generated *made,
                  ts_error *e)
{
    const bool file = is_model(what);
    *out = (asked){.verdict = {.n = 0}};
    *made = (generated){.tokens = 0};
    if (file)
        decoder_file(what, how->tokenizer, how->dims, &out->weights);
    else if (!open_run(what, how, &out->weights, e))
        return false;
    out->tokenizer = train_tokenizer_make(&out->weights.asked, e);
    if (e->code)
        return false;
    writer w = {.how = how, .tokenizer = out->tokenizer, .made = made, .file = file};
    decoder d = {.note = ""};
    bool ok = begin(&w, what, out, e);
    const decoding wanted = {how->recompute, file, how->batch, w.prompt, how->tokens};
    ok = ok && decoder_make(&d, &out->weights, &wanted, o, e) && continue_text(&w, &d, e);
    decoder_free(&d);
    free(w.id), free(w.row);
    return ok;
}
