/* predict.c - tessera predict: what a trained model says of texts. */
#include "train/ask.h"
#include "train/task.h"
#include "graph/base/err.h"
#include "cli/outfile.h"
#include "cli/say.h"
#include "cli/session.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_INPUT = 1 << 28 }; /* bytes of standard input */

typedef struct texts {
    const char **all;
    int64_t n;
    char *file;
} texts;

/* --text ..., or the lines of --file. */
static bool gather(const args *a, texts *t, ts_error *e)
{
    const int count = args_count(a, "text");
    const char *file = args_text(a, "file");
    int64_t lines = 0;
    if (file && !(t->file = outfile_text(file, MOST_INPUT, e)))
        return false;
    for (const char *s = t->file; s && *s; s++)
        lines += *s == '\n' || !s[1];
    t->all = calloc((size_t)(count + lines) + 1, sizeof *t->all);
    if (!t->all)
        return err_memory(e, ((size_t)(count + lines) + 1) * sizeof *t->all, "%lld texts", (long long)(count + lines));
    for (int i = 0; i < count; i++)
        t->all[t->n++] = args_at(a, "text", i);
    char *rest = t->file;
    for (char *line; lines-- > 0 && (line = strsep(&rest, "\n"));)
        t->all[t->n++] = line;
    if (t->n)
        return true;
    err_set(e, TS_USAGE, "predict: there is no text");
    return err_hint(e, "--text \"...\" gives one, --file FILE one a line, --file - those of standard input");
}

static void show(const args *a, const texts *t, const asked *q)
{
    const bool classes = task_of(&q->weights.asked)->label == LABEL_CLASS;
    const verdict *v = &q->verdict;
    cJSON *root = reply_make("predict/1"), *list = js_array(root, "predictions");
    for (int64_t i = 0; i < t->n; i++)
        if (classes)
            js_row(list, "text:%s,label:%lld,probability:%g", t->all[i], (long long)v->said[i], v->sure[i]);
        else
            js_row(list, "text:%s,value:%g", t->all[i], v->score[i]);
    reply_give(a, root, "[predictions*[label?{label:%.0f}\t{probability:%.4f}|{value:%.6g}]\t{text}\n]");
}

static int run(const args *a, ts_error *e)
{
    texts t = {.n = 0};
    asked q = {.verdict = {.n = 0}};
    const ts_options o = session_options(a);
    if (gather(a, &t, e) && run_predict(args_noun(a, 0), t.n, t.all, &o, &q, e)) {
        if (*q.weights.note)
            console_warn(&a->console, "%s", q.weights.note);
        char warning[VERDICT_TEXT];
        if (verdict_warns(&q.verdict, warning))
            console_warn(&a->console, "%s", warning);
        if (q.data.cut)
            console_note(&a->console, "%lld of %lld texts are longer than %lld tokens and are cut",
                         (long long)q.data.cut, (long long)t.n, (long long)q.weights.asked.length);
        show(a, &t, &q);
    }
    run_ask_free(&q);
    free(t.all), free(t.file);
    return TS_OK;
}

static const option options[] = {
    {"text", 0, WORD, "TEXT", "a text; repeats", REPEATS},
    {"file", 0, A_FILE, "FILE", "texts, one a line; - is standard input", ONCE},
    {0},
};
static const char *const examples[] = {
    "tessera predict run --text stirring",
    "tessera predict run --file reviews.txt > labels.tsv # label, probability, text",
    NULL,
};

const verb verb_predict = {
    .name = "predict",
    .brief = "Predict labels of texts with a trained model",
    .usage = "RUN",
    .own = {"Options", options, NULL},
    .groups = session_plan_groups,
    .examples = examples,
    .run = run,
};
