/* generate.c - tessera generate: a trained language model continues a text. */
#include "train/ask.h"
#include "graph/base/err.h"
#include "cli/reply.h"
#include "cli/session.h"

#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_TOKENS = 1 << 20 }; /* that can be asked for */

typedef struct text_so_far {
    FILE *to;
    bool terminal; /* control characters would be orders to it */
} text_so_far;

static void tell(void *user, const char *text, size_t n)
{
    const text_so_far *t = user;
    for (size_t i = 0; i < n; i++) {
        const bool order = t->terminal && iscntrl((unsigned char)text[i]) && text[i] != '\n' && text[i] != '\t';
        putc(order ? '?' : text[i], t->to);
    }
    fflush(t->to);
}

static double rate(const generated *g) /* tokens a second, after the first one; 0: unknown */
{
    return g->tokens > 1 && g->seconds > 0 ? (double)(g->tokens - 1) / g->seconds : 0;
}

static void reply(const generating *how, const char *text, const generated *g)
{
    reply_end(js_put(reply_make("generate/1"), "prompt:%s,text:%s,tokens:%g,tokens_per_s:%g,ended:%i", how->prompt,
                     text, (double)g->tokens, rate(g), g->ended));
}

/* On standard error, behind the text. */
static void comment(const args *a, const asked *q, const generated *g)
{
    if (*q->weights.note)
        console_warn(&a->console, "%s", q->weights.note);
    if (*g->note)
        console_note(&a->console, "%s", g->note);
    console_note(&a->console, "%lld tokens, %.1f a second%s", (long long)g->tokens, rate(g),
                 g->ended ? ", to the end of the text" : "");
}

static int run(const args *a, ts_error *e)
{
    asked q = {.verdict = {.n = 0}};
    char *whole = NULL;
    size_t n = 0;
    const bool json = a->console.json;
    text_so_far t = {.to = json ? open_memstream(&whole, &n) : stdout, .terminal = !json && isatty(STDOUT_FILENO)};
    const generating how = {
        .prompt = args_text(a, "prompt"),
        .tokens = args_integer(a, "max-tokens"),
        .sampling = {args_number(a, "temperature"), args_integer(a, "top-k"), args_number(a, "top-p")},
        .recompute = args_flag(a, "no-cache"),
        .seed = (uint64_t)args_integer(a, "seed"),
        .tell = tell,
        .user = &t};
    const ts_options o = session_options(a);
    bool good = t.to || err_memory(e, 0, "the text");
    good = good && args_needed(a, "prompt", "--prompt TEXT gives what is to be continued", e);
    generated made;
    good = good && run_generate(args_noun(a, 0), &how, &o, &q, &made, e);
    if (json && t.to)
        fclose(t.to);
    if (good && json)
        reply(&how, whole, &made);
    else if (good)
        putchar('\n'), fflush(stdout);
    if (good)
        comment(a, &q, &made);
    run_ask_free(&q);
    free(whole);
    return TS_OK;
}

static const option options[] = {
    {"prompt", 0, WORD, "TEXT", "the text to continue", ONCE},
    {"max-tokens", 'n', INTEGER, "N", "tokens to append, at most", "100", false, 1, 1 << 20},
    {"temperature", 0, NUMBER, "X", "more is more random; 0: always the most likely token", "0", false, 0, 1000},
    {"top-k", 0, INTEGER, "N", "sample from the N most likely tokens; 0: from all", "0", false, 0, MOST_TOKENS},
    {"top-p", 0, NUMBER, "X", "sample from the most likely tokens whose probabilities add up to X", "1", false, 0, 1},
    {"seed", 0, INTEGER, "N", "seed of the sampling", "1", false, 0, INT64_MAX},
    {"no-cache", 0, FLAG, NULL, "run the whole window for every token, to compare", ONCE},
    {0},
};

static const char *const examples[] = {
    "tessera generate run --prompt Once --max-tokens 40",
    "tessera generate run --prompt Once --temperature 0.8 --top-p 0.9 --seed 3",
    NULL,
};

const verb verb_generate = {
    .name = "generate",
    .brief = "Continue a text with a trained language model",
    .usage = "RUN",
    .own = {"Options", options, NULL},
    .groups = session_plan_groups,
    .examples = examples,
    .details =
        "RUN must come from train --task lm with a causal model. The text is printed as it grows, and ends early where "
        "the model ends it. Keys and values are cached, so each new token costs one position; when the window of the "
        "run's --length is full, its first tokens are dropped.",
    .run = run,
};
