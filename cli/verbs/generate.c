/* generate.c - tessera generate: a trained language model continues a text. */
#include "train/ask.h"
#include "graph/base/err.h"
#include "cli/say.h"
#include "cli/session.h"
#include "cli/train_options.h"

#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_TOKENS = 1 << 20 }; /* that can be asked for */

typedef struct text_so_far {
    FILE *to;
    bool terminal; /* control characters would be orders to it */
    int64_t row;   /* which text */
    cJSON *all;    /* the texts before it, in JSON */
    char *whole;
    size_t n;
} text_so_far;

/* In JSON a text of its own, else behind a line between them. */
static void next_text(text_so_far *t)
{
    if (t->all) {
        fclose(t->to);
        js_item(t->all, t->whole);
        free(t->whole), t->whole = NULL;
        t->to = open_memstream(&t->whole, &t->n);
    } else
        fputs("\n---\n", t->to);
    t->row++;
}

static void tell(void *user, int64_t row, const char *text, size_t n)
{
    text_so_far *t = user;
    while (t->row < row)
        next_text(t);
    for (size_t i = 0; t->to && i < n; i++) {
        const bool order = t->terminal && iscntrl((unsigned char)text[i]) && text[i] != '\n' && text[i] != '\t';
        putc(order ? '?' : text[i], t->to);
    }
    if (t->to)
        fflush(t->to);
}

static double rate(int64_t count, double seconds) /* 0: unknown */
{
    return count > 0 && seconds > 0 ? (double)count / seconds : 0;
}

static void reply(const generating *how, text_so_far *t, const generated *g)
{
    next_text(t);
    cJSON *o = js_put(reply_make("generate/1"), "prompt:%s,text:%s,tokens:%g,tokens_per_s:%g,ended:%i", how->prompt,
                      cJSON_GetArrayItem(t->all, 0)->valuestring, (double)g->tokens, rate(g->later, g->seconds),
                      g->ended);
    js_put(o, "prompt_tokens:%g,prefill_s:%g,prefill_tokens_per_s:%g", (double)g->prompt, g->prefill,
           rate(g->prompt * how->batch, g->prefill));
    cJSON_AddItemToObject(o, "texts", t->all);
    reply_end(o);
}

/* On standard error, behind the text. */
static void comment(const args *a, const asked *q, const generating *how, const generated *g)
{
    if (*q->weights.note)
        console_warn(&a->console, "%s", q->weights.note);
    if (*g->said)
        console_note(&a->console, "%s", g->said);
    if (*g->note)
        console_note(&a->console, "%s", g->note);
    console_note(&a->console, "prompt: %lld tokens, %.1f a second", (long long)g->prompt,
                 rate(g->prompt * how->batch, g->prefill));
    console_note(&a->console, "%lld tokens, %.1f a second%s", (long long)g->tokens, rate(g->later, g->seconds),
                 g->ended ? ", to the end of the text" : "");
}

static int run(const args *a, ts_error *e)
{
    asked q = {.verdict = {.n = 0}};
    const bool json = a->console.json;
    text_so_far t = {.terminal = !json && isatty(STDOUT_FILENO), .all = json ? cJSON_CreateArray() : NULL};
    t.to = json ? open_memstream(&t.whole, &t.n) : stdout;
    char *dims = train_options_text(a, "dim");
    const generating how = {
        .prompt = args_text(a, "prompt"),
        .tokenizer = args_text(a, "tokenizer"),
        .dims = dims,
        .tokens = args_integer(a, "max-tokens"),
        .batch = args_integer(a, "batch"),
        .sampling = {args_number(a, "temperature"), args_integer(a, "top-k"), args_number(a, "top-p")},
        .recompute = args_flag(a, "no-cache"),
        .seed = (uint64_t)args_integer(a, "seed"),
        .tell = tell,
        .user = &t};
    const ts_options o = session_options(a);
    bool ok = t.to || err_memory(e, 0, "the text");
    ok = ok && args_needed(a, "prompt", "--prompt TEXT gives what is to be continued", e);
    generated made;
    ok = ok && run_generate(args_noun(a, 0), &how, &o, &q, &made, e);
    if (ok && json)
        reply(&how, &t, &made), t.all = NULL;
    else if (ok)
        putchar('\n'), fflush(stdout);
    if (ok)
        comment(a, &q, &how, &made);
    if (json && t.to)
        fclose(t.to);
    run_ask_free(&q);
    cJSON_Delete(t.all);
    free(t.whole), free(dims);
    return TS_OK;
}

static const option options[] = {
    {"prompt", 0, WORD, "TEXT", "the text to continue", ONCE},
    {"tokenizer", 0, WORD, "FILE|bytes", "of a model file: vocab.txt or tokenizer.json (default: beside the model)",
     ONCE},
    {"dim", 0, PAIR, "NAME=N", "of a model file: how many tokens fit, past=1..511 or seq=512; repeats", REPEATS},
    {"max-tokens", 'n', INTEGER, "N", "tokens to append, at most", "100", false, 1, 1 << 20},
    {"temperature", 0, NUMBER, "X", "more is more random; 0: always the most likely token", "0", false, 0, 1000},
    {"top-k", 0, INTEGER, "N", "sample from the N most likely tokens; 0: from all", "0", false, 0, MOST_TOKENS},
    {"top-p", 0, NUMBER, "X", "sample from the most likely tokens whose probabilities add up to X", "1", false, 0, 1},
    {"seed", 0, INTEGER, "N", "seed of the sampling", "1", false, 0, INT64_MAX},
    {"batch", 0, INTEGER, "N", "of a model file that takes a past: so many texts at once", "1", false, 1, 1 << 12},
    {"no-cache", 0, FLAG, NULL, "run the whole window for every token, to compare", ONCE},
    {0},
};

const verb verb_generate = {
    .name = "generate",
    .brief = "Continue a text with a language model",
    .usage = "RUN|MODEL",
    .own = {"Options", options, NULL},
    .groups = session_plan_groups,
    .examples = "tessera generate run --prompt Once --max-tokens 40\n"
                "tessera generate run --prompt Once --temperature 0.8 --top-p 0.9 --seed 3\n"
                "tessera generate gpt2/model.onnx --prompt Once # with tokenizer.json beside it\n"
                "tessera generate model.onnx --prompt Once --dim past=1..1023 --batch 4",
    .details =
        "RUN must come from train --task lm with a causal model, MODEL takes tokens and gives logits. The text is "
        "printed "
        "as it grows, and ends early where the model ends it. Keys and values are cached, so each new token costs one "
        "position: in the past that MODEL takes (past_key_values, present), one program for every length, else as its "
        "definitions allow; when the window of the run's --length is full, its first tokens are dropped. What "
        "MODEL's inputs and outputs were recognised as, and tokens a second of prompt and text, are told behind the "
        "text.",
    .run = run,
};
