/* predict.c - tessera predict: what a trained model says of texts. */
#include "train/ask.h"
#include "train/task.h"
#include "graph/base/err.h"
#include "cli/outfile.h"
#include "cli/say.h"
#include "cli/session.h"

#include <stdio.h>
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

/* Numbers of classes, or the names that the data gave them. */
typedef struct classes {
    int64_t n;
    char **name; /* NULL: they have none */
} classes;

static classes names_of(const asked *q)
{
    classes c = {.n = q->verdict.classes};
    char line[OPTION_LINE];
    const char *names = q->weights.asked.names;
    if (!names || !(c.name = calloc((size_t)c.n + 1, sizeof *c.name)))
        return c;
    for (int64_t i = 0; i < c.n && option_line(&names, line); i++)
        c.name[i] = strdup(line);
    return c;
}

static void add_label(cJSON *row, const char *key, const classes *c, int64_t i)
{
    if (c->name && i >= 0 && i < c->n && c->name[i])
        js_text(row, key, c->name[i]);
    else
        js_number(row, key, (double)i);
}

static const char *class_name(const classes *c, int64_t k, char number[32])
{
    snprintf(number, 32, "%lld", (long long)k);
    return c->name && c->name[k] ? c->name[k] : number;
}

/* Probabilities in the order of the classes. */
static void add_shares(cJSON *row, const classes *c, const double *share)
{
    char number[32];
    cJSON *all = js_object(row, "probabilities");
    for (int64_t k = 0; k < c->n; k++)
        js_number(all, class_name(c, k, number), share[k]);
}

static void show(const args *a, const texts *t, const asked *q)
{
    const bool of_classes = task_of(&q->weights.asked)->label == LABEL_CLASS;
    const verdict *v = &q->verdict;
    const classes c = names_of(q);
    char number[32];
    cJSON *root = reply_make("predict/1"), *list = js_array(root, "predictions");
    cJSON *heads = v->share ? js_array(root, "classes") : NULL;
    for (int64_t k = 0; heads && k < c.n; k++)
        js_item(heads, class_name(&c, k, number));
    for (int64_t i = 0; i < t->n; i++) {
        cJSON *row = js_row(list, "text:%s", t->all[i]);
        if (!of_classes) {
            js_number(row, "value", v->score[i]);
            continue;
        }
        add_label(row, "label", &c, v->said[i]);
        js_number(row, "probability", v->sure[i]);
        if (v->share)
            add_shares(row, &c, v->share + i * v->classes);
    }
    reply_give(a, root,
               of_classes ? "label\tprobability[classes*\t{}]\ttext\n"
                            "[predictions*{label}\t{probability:%.4f}[probabilities*\t{:%.4f}]\t{text}\n]"
                          : "value\ttext\n[predictions*{value:%.6g}\t{text}\n]");
    for (int64_t i = 0; c.name && i < c.n; i++)
        free(c.name[i]);
    free(c.name);
}

static int run(const args *a, ts_error *e)
{
    texts t = {.n = 0};
    asked q = {.verdict = {.n = 0}};
    const ts_options o = session_options(a);
    const judge_depth depth = args_flag(a, "probabilities") ? JUDGE_CLASSES : JUDGE_EACH;
    if (gather(a, &t, e) && run_predict(args_noun(a, 0), t.n, t.all, depth, &o, &q, e)) {
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
    {"probabilities", 0, FLAG, NULL, "the probability of every class, a column each", ONCE},
    {0},
};

const verb verb_predict = {
    .name = "predict",
    .brief = "Predict labels of texts with a trained model",
    .usage = "RUN",
    .own = {"Options", options, NULL},
    .groups = session_plan_groups,
    .examples = "tessera predict run --text stirring\n"
                "tessera predict run --file reviews.txt > labels.tsv # label, probability, text\n"
                "tessera predict run --file reviews.txt --probabilities # of each class",
    .run = run,
};
