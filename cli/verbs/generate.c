/* generate.c - tessera generate: a trained language model continues a text. */
#include "bench/train/ask.h"
#include "cli/fail.h"
#include "cli/reply.h"
#include "cli/session.h"

#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

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

static int run(const args *a, ts_error *e)
{
    asked q = {.verdict = {.n = 0}};
    char *whole = NULL;
    size_t n = 0;
    const bool json = a->console.json;
    text_so_far t = {.to = json ? open_memstream(&whole, &n) : stdout, .terminal = !json && isatty(STDOUT_FILENO)};
    const generating how = {.prompt = args_text(a, "prompt", NULL),
                            .tokens = args_integer(a, "tokens", 100),
                            .temperature = args_number(a, "temperature", 0),
                            .seed = (uint64_t)args_integer(a, "seed", 1),
                            .tell = tell,
                            .user = &t};
    const ts_options o = session_options(a);
    bool good = t.to || fail(e, TS_MEMORY, "no memory for the text");
    if (good && !how.prompt) {
        good = fail(e, TS_USAGE, "generate: --prompt is missing");
        fail_hint(e, "--prompt TEXT gives what is to be continued");
    }
    good = good && run_generate(args_noun(a, 0), &how, &o, &q, e);
    if (good && *q.weights.note)
        console_warn(&a->console, "%s", q.weights.note);
    if (json && t.to)
        fclose(t.to);
    if (good && json) {
        cJSON *root = reply_make("generate/1");
        js_text(root, "prompt", how.prompt), js_text(root, "text", whole);
        reply_print(root);
        cJSON_Delete(root);
    } else if (good)
        putchar('\n');
    run_ask_free(&q);
    free(whole);
    return TS_OK;
}

static const option options[] = {
    {"prompt", 0, WORD, "TEXT", "the text to continue", false, 0, 0},
    {"tokens", 'n', INTEGER, "N", "tokens to append (default: 100)", false, 1, 1 << 20},
    {"temperature", 0, NUMBER, "X", "more is more random; 0: always the likeliest token (default: 0)", false, 0, 1000},
    {"seed", 0, INTEGER, "N", "of what is drawn (default: 1)", false, 0, INT64_MAX},
    {0},
};
static const option_group group = {"Options", options};
static const option_group *const groups[] = {&group, &session_plan_options, NULL};
static const char *const examples[] = {
    "tessera generate run --prompt Once --tokens 40",
    "tessera generate run --prompt Once --temperature 0.8 --seed 3",
    NULL,
};

const verb verb_generate = {
    .name = "generate",
    .brief = "Continue a text with a trained language model",
    .usage = "RUN",
    .groups = groups,
    .examples = examples,
    .details =
        "RUN is of train --task lm, its model causal: a place sees only those before it. The text goes to standard "
        "output as it grows. When the window of the run's --length is full, its first tokens are dropped.",
    .run = run,
};
